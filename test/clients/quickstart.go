// Compiled with the generated client.go, and run, by main.ts.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
)

func ptr[T any](value T) *T { return &value }

func check(err error, status int, body []byte) {
	if err != nil || status >= 300 {
		log.Fatalf("%v %d %s", err, status, body)
	}
}

func main() {
	ctx := context.Background()
	workspace := os.Getenv("WORKSPACE_ID")
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("BASE_URL"), WithRequestEditorFn(authorize))
	if err != nil {
		log.Fatal(err)
	}

	list, err := client.ListsCreateWithResponse(ctx, nil, CreateListRequest{WorkspaceId: workspace, Id: "readers", Name: "Readers"})
	check(err, list.StatusCode(), list.Body)

	subscribed, err := client.ListsSubscribeWithResponse(ctx, SubscribeContactRequest{
		WorkspaceId: workspace, ListIds: []string{"readers"}, Contact: ContactInput{Email: "ada@example.com"},
	})
	check(err, subscribed.StatusCode(), subscribed.Body)

	email := EmailContentInput{
		EditorMode: ptr("code"), Subject: ptr("Hello"), MjmlSource: ptr("<mjml><mj-body></mj-body></mjml>"),
	}
	template, err := client.TemplatesCreateWithResponse(ctx, nil, CreateTemplateRequest{
		WorkspaceId: workspace, Id: "letter", Name: "Letter", Channel: TemplateChannelEmail, Category: TemplateCategoryMarketing, Email: &email,
	})
	check(err, template.StatusCode(), template.Body)

	created, err := client.BroadcastsCreateWithResponse(ctx, nil, CreateBroadcastRequest{
		WorkspaceId: workspace, Name: "First letter", Audience: AudienceInput{List: ptr("readers")},
		TestSettings: &TestSettingsInput{Variations: &[]VariationInput{{TemplateId: ptr("letter"), VariationName: ptr("A")}}},
	})
	check(err, created.StatusCode(), created.Body)

	scheduled, err := client.BroadcastsScheduleWithResponse(ctx, ScheduleBroadcastRequest{
		WorkspaceId: workspace, Id: created.JSON201.Broadcast.Id, SendNow: ptr(true),
	})
	check(err, scheduled.StatusCode(), scheduled.Body)
}
