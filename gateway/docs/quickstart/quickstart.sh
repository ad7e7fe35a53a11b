post() { curl -sS --fail-with-body -w '\n' "$BASE_URL/api/$1" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d @-; }

# 1. A list
post lists.create <<END
{"workspace_id": "$WORKSPACE_ID", "id": "readers", "name": "Readers"}
END

# 2. Somebody on it
post lists.subscribe <<END
{"workspace_id": "$WORKSPACE_ID", "list_ids": ["readers"], "contact": {"email": "ada@example.com", "first_name": "Ada"}}
END

# 3. What to write: MJML with Liquid
post templates.create <<END
{"workspace_id": "$WORKSPACE_ID", "id": "letter", "name": "Letter", "channel": "email", "category": "marketing",
  "email": {"editor_mode": "code", "subject": "Hello {{ contact.first_name }}", "mjml_source":
    "<mjml><mj-body><mj-section><mj-column><mj-text>Welcome. <a href='{{ unsubscribe_url }}'>Unsubscribe</a></mj-text></mj-column></mj-section></mj-body></mjml>"}}
END

# 4. Who gets it
id=$(post broadcasts.create <<END | cut -d '"' -f 6
{"workspace_id": "$WORKSPACE_ID", "name": "First letter", "audience": {"list": "readers"},
  "test_settings": {"variations": [{"template_id": "letter", "variation_name": "A"}]}}
END
)

# 5. Send it
post broadcasts.schedule <<END
{"workspace_id": "$WORKSPACE_ID", "id": "$id", "send_now": true}
END
