package setting_test

import (
	"fmt"

	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setting"
)

// A protocol describes the keys of its entries; the configuration file then has them.
func ExampleRegister() {
	type settings struct {
		Host  string
		Token setting.Secret
	}
	setting.Register("telnet", nil,
		setting.Of[settings]{
			Field: setting.Field{Key: "host", Kind: setting.Text, Required: true, Help: "The host."},
			At:    func(s *settings) any { return &s.Host }},
		setting.Of[settings]{
			Field: setting.Field{Key: "token_env", Kind: setting.Variable, Help: "The variable that holds the token."},
			At:    func(s *settings) any { return &s.Token }},
	)
	c, findings, err := hotreload.Parse("langgraph-config.yaml", []byte(
		"delegates:\n- { name: old, type: telnet, hots: example.com, token_env: OLD_TOKEN }\n- { name: bbs, type: telnet, host: example.com, token_env: OLD_TOKEN }\n"))
	if err != nil {
		fmt.Println(err)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	for _, d := range c.Delegates {
		fmt.Printf("%s %+v\n", d, *d.Settings.(*settings))
	}
	// Output:
	// langgraph-config.yaml:2:3: error: delegate "old": refused: host is missing
	// langgraph-config.yaml:2:30: warning: delegate "old": unknown key hots; did you mean host?
	// bbs (telnet) {Host:example.com Token:($OLD_TOKEN)}
}
