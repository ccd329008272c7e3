package moov

import (
	"fmt"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// files returns the WSDL at the path of the service. It is also at the path of each operation, where some clients look
// for it (ThirdParty).
func files() []operatorapi.File {
	all := []operatorapi.File{{Path: soapPath, ContentType: textXML, Text: wsdl}}
	for _, name := range operationNames() {
		all = append(all, operatorapi.File{Path: soapFolder + name, ContentType: textXML, Text: wsdl})
	}
	return all
}

// wsdl returns the WSDL of the SOAP service. base is the base URL of the API. The text follows from the table of
// operations, because Moov's own WSDL was not seen.
func wsdl(base string) string {
	var types, messages, ports, bindings strings.Builder
	for i := range operations {
		o := &operations[i]
		fields := sequence(append([]string{"token"}, o.request...)...)
		if o.inside {
			fields = fmt.Sprintf(`<xs:sequence>%s<xs:element name="request" minOccurs="0"><xs:complexType>%s</xs:complexType></xs:element></xs:sequence>`,
				textElement("token"), sequence(o.request...))
		}
		fmt.Fprintf(&types, `<xs:element name="%s"><xs:complexType>%s</xs:complexType></xs:element>`+
			`<xs:element name="%[1]sResponse"><xs:complexType><xs:sequence><xs:element name="%[3]s" minOccurs="0"><xs:complexType>%[4]s</xs:complexType>`+
			`</xs:element></xs:sequence></xs:complexType></xs:element>`+"\n", o.name, fields, o.answer, sequence(o.fields...))
		fmt.Fprintf(&messages, `<wsdl:message name="%s"><wsdl:part name="parameters" element="tns:%[1]s"/></wsdl:message>`+
			`<wsdl:message name="%[1]sResponse"><wsdl:part name="parameters" element="tns:%[1]sResponse"/></wsdl:message>`+"\n", o.name)
		fmt.Fprintf(&ports, `<wsdl:operation name="%s"><wsdl:input message="tns:%[1]s"/><wsdl:output message="tns:%[1]sResponse"/></wsdl:operation>`+
			"\n", o.name)
		fmt.Fprintf(&bindings, `<wsdl:operation name="%s"><soap:operation soapAction=""/><wsdl:input><soap:body use="literal"/></wsdl:input>`+
			`<wsdl:output><soap:body use="literal"/></wsdl:output></wsdl:operation>`+"\n", o.name)
	}
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<wsdl:definitions name="UssdPush" targetNamespace="%s" xmlns:tns="%[1]s" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"
 xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<wsdl:types><xs:schema targetNamespace="%[1]s" elementFormDefault="unqualified">
%[2]s</xs:schema></wsdl:types>
%[3]s<wsdl:portType name="UssdPush">
%[4]s</wsdl:portType>
<wsdl:binding name="UssdPushSoapBinding" type="tns:UssdPush"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
%[5]s</wsdl:binding>
<wsdl:service name="UssdPush"><wsdl:port name="UssdPushPort" binding="tns:UssdPushSoapBinding"><soap:address location="%[6]s"/></wsdl:port></wsdl:service>
</wsdl:definitions>
`, merchantName, &types, &messages, &ports, &bindings, escaped(base+soapPath))
}

func sequence(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(textElement(name))
	}
	return "<xs:sequence>" + b.String() + "</xs:sequence>"
}

func textElement(name string) string {
	return fmt.Sprintf(`<xs:element name="%s" type="xs:string" minOccurs="0"/>`, name)
}
