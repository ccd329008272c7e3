-- Sets the balance of every float and SIM: its opening balance plus the movements of its transactions.
with floats_of as (
  update floats f set balance = f.opening + moved.delta
  from (select tenant, float_currency, sum(merchant_delta)::bigint as delta from transactions where tenant between $1::bigint and $2::bigint
    group by tenant, float_currency) moved
  where f.tenant = moved.tenant and f.currency = moved.float_currency
)
update sims s set balance = s.opening + moved.delta
from (select tenant, sim_id, sum(sim_delta)::bigint as delta from transactions where tenant between $1::bigint and $2::bigint and sim_id is not null
  group by tenant, sim_id) moved
where s.tenant = moved.tenant and s.sim_id = moved.sim_id
