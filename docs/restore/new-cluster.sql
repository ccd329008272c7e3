-- Gives the rows of a restored database to the resources of a new cluster, which have the same namespaces and names as before and
-- other UIDs. See docs/backup.md. Before it, in the same session, a table holds the new resources:
--
--   create temporary table resources (namespace text, sandbox text, testclient text, uid uuid);
--
-- one row for each SandboxEnvironment, without a testclient, and one for each TestClient. Sandboxes that are not in it stay as they are.
-- No controller runs meanwhile: it would take the former sandboxes for deleted.
begin;

-- Stored secrets are bound to the UID that they were sealed for. The controller stores them again, from the Secrets.
update organizations o
set resource_uid = r.uid, signing_secret = null, previous_secret = null, previous_secret_until = null, older_secrets = '{}', older_secrets_until = '{}'
from resources r
where r.testclient is null and (o.namespace, o.name) = (r.namespace, r.sandbox) and o.retained_at is null;

create temporary table moved on commit drop as
select m.tenant, m.sim_id as former, r.uid
from resources r
join organizations o on (o.namespace, o.name) = (r.namespace, r.sandbox) and o.retained_at is null
join sims m on m.tenant = o.tenant and m.name = r.testclient;

update sims s set sim_id = m.uid from moved m where (s.tenant, s.sim_id) = (m.tenant, m.former);
update adjustments a set sim_id = m.uid from moved m where (a.tenant, a.sim_id) = (m.tenant, m.former);
update transactions t set sim_id = m.uid from moved m where (t.tenant, t.sim_id) = (m.tenant, m.former);

-- The workers verify these ledgers again from their beginning.
delete from account_proofs p where exists (select from moved m where m.tenant = p.tenant);
delete from ledger_proofs p where exists (select from moved m where m.tenant = p.tenant);

commit;
