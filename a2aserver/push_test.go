package a2aserver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Who asks for it is told on loopback how a task goes on, in the version of the request.
func TestPush(t *testing.T) {
	got := make(chan string, 100)
	told := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Header.Get("X-A2A-Notification-Token") + r.Header.Get("Authorization") + string(body)
	}))
	defer told.Close()
	url := stand(t, nil)
	for name, last := range map[string]string{"1.0 JSON-RPC": "TASK_STATE_CANCELED", "0.3 JSON-RPC": `"state":"canceled"`} {
		c := clients(t, url)[name]
		q := message("@proto hold", "")
		q.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: &a2a.PushConfig{URL: told.URL, ID: "one", Token: "t",
			Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "c"}}}
		sent, err := c.SendMessage(t.Context(), q)
		if err != nil {
			t.Fatal(name, err)
		}
		task := sent.(*a2a.Task)
		if first := <-got; !strings.HasPrefix(first, "tBearer c{") {
			t.Errorf("%s: the first notification is %s", name, first)
		}
		if _, err := c.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{TaskID: task.ID, URL: "http://192.0.2.1/"}); err == nil {
			t.Errorf("%s: an address elsewhere", name)
		}
		two, err := c.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{TaskID: task.ID, ID: "two", URL: told.URL})
		if err != nil {
			t.Fatal(name, err)
		}
		if one, err := c.GetTaskPushConfig(t.Context(), &a2a.GetTaskPushConfigRequest{TaskID: task.ID, ID: two.ID}); err != nil || one.URL != told.URL {
			t.Errorf("%s: looked at: %+v, %v", name, one, err)
		}
		if err := c.DeleteTaskPushConfig(t.Context(), &a2a.DeleteTaskPushConfigRequest{TaskID: task.ID, ID: two.ID}); err != nil {
			t.Errorf("%s: deleted: %v", name, err)
		}
		if list, err := c.ListTaskPushConfigs(t.Context(), &a2a.ListTaskPushConfigRequest{TaskID: task.ID}); err != nil || len(list) != 1 {
			t.Errorf("%s: listed: %+v, %v", name, list, err)
		}
		if _, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
			t.Errorf("%s: canceled: %v", name, err)
		}
		for note := range got {
			if strings.Contains(note, last) {
				break
			}
		}
	}
}
