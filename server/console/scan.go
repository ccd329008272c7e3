package console

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/service"
)

// Scanner pays orders whose QR codes the phones scan.
type Scanner interface {
	Scan(r *http.Request, who *service.Caller, o payments.Operator, token string) (operatorapi.Scanned, error)
	PayScanned(r *http.Request, who *service.Caller, o payments.Operator, token, msisdn, draft string) (accepted bool, err error)
}

// scan is the page on which a phone scans a QR code.
type scan struct {
	*handset
	codes   []openCheckout // that can be scanned, newest first; only for those who read the sandbox
	address string         // that was typed
	wrong   string         // why it is no code, or could not be paid; empty for none
	found   *operatorapi.Scanned
}

// scans reports whether the phones of an operator scan QR codes.
func scans(o payments.Operator) bool {
	api := operators.NativeAPI(o)
	return api != nil && api.Page != nil && api.Page.Scan != nil
}

// scanPath returns the address of the page on which the phone scans a QR code.
func (h *handset) scanPath() string { return "/handsets/" + h.MSISDN + "/scan" }

// phonePath returns the address of the page that has the phone.
func (v *visit) phonePath(h *handset) string {
	if v.may(viewers) {
		return "/handsets"
	}
	return "/handsets/" + h.MSISDN
}

// scanCode shows the form for the address of a QR code. If the form has an address, it shows what the phone reads.
func (c *Console) scanCode(v *visit) (page, error) {
	s, err := c.newScan(v)
	if err != nil {
		return page{}, err
	}
	status := http.StatusOK
	if s.address = v.form("address"); v.request.Method == http.MethodPost {
		if err := c.readScan(v, s); err != nil {
			return page{}, err
		}
		if s.wrong != "" {
			status = http.StatusUnprocessableEntity
		}
	}
	return s.page(v, status), nil
}

func (s *scan) page(v *visit, status int) page {
	return page{title: v.Text("Scan a QR code"), body: scanPage(v, s), status: status, frameless: !v.may(viewers)}
}

// newScan returns the page for the phone with the number in the path.
func (c *Console) newScan(v *visit) (*scan, error) {
	h, err := c.findHandset(v)
	if err != nil {
		return nil, err
	}
	if !scans(h.Operator) {
		return nil, errNotFound
	}
	s := &scan{handset: h}
	if !v.may(full) {
		return s, nil
	}
	open, err := c.readCheckouts(v)
	for i := range open {
		if open[i].Operator == h.Operator && open[i].Country == h.Country && open[i].page != "" {
			s.codes = append(s.codes, open[i])
		}
	}
	return s, err
}

// readScan reads the code whose address was typed.
func (c *Console) readScan(v *visit, s *scan) error {
	token := tokenOf(s.Operator, s.address)
	found, err := c.Scanner.Scan(v.request, v.who, s.Operator, token)
	switch {
	case operatorapi.IsRefused(err, operatorapi.NotFound):
		s.wrong = v.Text("No QR code of this sandbox has this address. Paste the address that the picture has.")
	case err != nil:
		return err
	case !found.Payable:
		s.wrong = v.Text("Nothing can be paid with this code: it does not pay a short code of this sandbox.")
	default:
		s.found = &found
	}
	return nil
}

// tokenOf returns the token in the address of a QR code of an operator; "" if it has none.
func tokenOf(o payments.Operator, address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	before, after, _ := strings.Cut(operators.NativeAPI(o).Page.Of("\n"), "\n")
	_, token, found := strings.Cut(at.Path, before)
	if !found {
		return ""
	}
	return strings.TrimSuffix(token, after)
}

// payScanned pays the code that a phone has scanned, and leads back to the phone, which shows the message about the
// payment.
func (c *Console) payScanned(v *visit) (httpfront.Answer, error) {
	var s *scan
	err := c.renewing(v, func() (err error) {
		s, err = c.newScan(v)
		return err
	})
	if err != nil {
		return httpfront.Answer{}, err
	}
	s.address = v.form("address")
	accepted, err := c.Scanner.PayScanned(v.request, v.who, s.Operator, tokenOf(s.Operator, s.address), s.MSISDN, v.form("draft"))
	switch {
	case operatorapi.IsRefused(err, operatorapi.NotFound):
		s.wrong = v.Text("The code has ended. Nothing was paid.")
	case err != nil:
		return httpfront.Answer{}, err
	case !accepted:
		s.wrong = v.Text("The shop did not accept the payment. Nothing was paid.")
	default:
		return v.goTo(v.phonePath(s.handset)), nil
	}
	return c.again(v, http.StatusUnprocessableEntity, s.page(v, 0), "invalid_body")
}
