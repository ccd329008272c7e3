package proof

// VerifyInBatches bounds the movements that one statement of a verification reads.
func (p *Proofs) VerifyInBatches(n int64) { p.batch = n }
