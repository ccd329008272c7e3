package assets

import (
	"net/http"
	"slices"
	"time"
)

const (
	themeCookie = "cauri_theme"
	themeAge    = 365 * 24 * time.Hour
)

var themes = []string{"light", "dark"}

// Theme returns the appearance that a person chose, "light" or "dark"; empty: the system's.
func Theme(r *http.Request) string {
	cookie, err := r.Cookie(themeCookie)
	if err != nil || !slices.Contains(themes, cookie.Value) {
		return ""
	}
	return cookie.Value
}

// ThemeCookie returns the cookie that keeps an appearance for a year. For another value than those of [Theme] it
// removes the choice. The pages of a host share the cookie.
func ThemeCookie(theme string, secure bool) *http.Cookie {
	age := themeAge
	if !slices.Contains(themes, theme) {
		theme, age = "", -time.Second
	}
	return &http.Cookie{
		Name: themeCookie, Value: theme, Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
		MaxAge: int(age.Seconds()),
	}
}
