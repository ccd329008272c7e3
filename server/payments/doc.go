// Package payments is the domain of the sandbox: what a mobile-money transaction is, how its commission is split, which
// outcome it has and how it moves from one status to the next. It is pure: no I/O, no clock, no randomness of its own.
//
// Amounts are whole units of the currency, which is also the minor unit: neither XOF nor RWF has decimals.
package payments
