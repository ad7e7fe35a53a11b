set -e
call() { grpcurl -plaintext -H "Authorization: Bearer $TOKEN" -d @ "$GRPC_ADDR" "postrider.$1"; }

call contacts.v1.ListService/CreateList <<EOF
{"workspace_id": "$WORKSPACE_ID", "id": "readers", "name": "Readers"}
EOF
call contacts.v1.ListService/SubscribeContact <<EOF
{"workspace_id": "$WORKSPACE_ID", "list_ids": ["readers"], "contact": {"email": "ada@example.com"}}
EOF
call templates.v1.TemplateService/CreateTemplate <<EOF
{"workspace_id": "$WORKSPACE_ID", "id": "letter", "name": "Letter", "channel": "TEMPLATE_CHANNEL_EMAIL", "category": "TEMPLATE_CATEGORY_MARKETING",
  "email": {"editor_mode": "code", "subject": "Hello", "mjml_source": "<mjml><mj-body></mj-body></mjml>"}}
EOF
id=$(call broadcasts.v1.BroadcastService/CreateBroadcast <<EOF | grep -m 1 -o '"id": "[^"]*' | cut -c 8-
{"workspace_id": "$WORKSPACE_ID", "name": "First letter", "audience": {"list": "readers"},
  "test_settings": {"variations": [{"template_id": "letter", "variation_name": "A"}]}}
EOF
)
call broadcasts.v1.BroadcastService/ScheduleBroadcast <<EOF
{"workspace_id": "$WORKSPACE_ID", "id": "$id", "send_now": true}
EOF
