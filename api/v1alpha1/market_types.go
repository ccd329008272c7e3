package v1alpha1

// Operator is the code of a mobile-money operator.
//
// +kubebuilder:validation:Enum=mtn;orange;moov;airtel;mpesa
type Operator string

// Country is the ISO 3166 alpha-2 code of a market: CI (Côte d'Ivoire), RW (Rwanda), BJ (Benin), TG (Togo),
// KE (Kenya), SN (Senegal), UG (Uganda), GH (Ghana), CM (Cameroon) or ZM (Zambia).
//
// +kubebuilder:validation:Enum=CI;RW;BJ;TG;KE;SN;UG;GH;CM;ZM
type Country string

// Currency is the ISO 4217 code of a market's currency: XOF, RWF, KES, UGX, GHS, XAF or ZMW. An amount is a whole number of units.
//
// +kubebuilder:validation:Enum=XOF;RWF;KES;UGX;GHS;XAF;ZMW
type Currency string

// Money is an amount in a currency.
type Money struct {
	// currency of the amount: XOF, RWF, KES, UGX, GHS, XAF or ZMW.
	//
	// +required
	Currency Currency `json:"currency"`

	// amount in whole units of the currency, 0 to 1000000000000, for example 1000000.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000000
	Amount int64 `json:"amount"`
}
