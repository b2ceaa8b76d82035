import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { security } from '../account/api.ts'
import { fields, forgotPassword as messages } from '../account/messages.ts'
import { serviceQuery } from '../queries.ts'
import { Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page } from '../ui/layout/page.tsx'

export function Screen() {
  const { data: service } = useQuery(serviceQuery)
  const [sentTo, setSentTo] = useState('')

  async function request({ email = '' }: Record<string, string>): Promise<void> {
    await security.requestPasswordReset(email.trim())
    setSentTo(email.trim())
  }

  return (
    <Page title={sentTo ? messages.sentTitle : messages.title} narrow>
      {service?.mail === false ? (
        <Notice tone="warn">
          <p>{messages.noMail}</p>
        </Notice>
      ) : sentTo ? (
        <p role="status">{messages.sent(sentTo)}</p>
      ) : (
        <Card>
          <Form
            onSubmit={request}
            check={({ email }): Record<string, string> =>
              email ? {} : { email: fields.enterEmail }
            }
            submit={messages.submit}
          >
            <TextField
              name="email"
              label={fields.email}
              type="email"
              autoComplete="username"
              spellCheck={false}
              autoFocus
            />
          </Form>
        </Card>
      )}
      <p>
        <Link to="/sign-in">{messages.back}</Link>
      </p>
    </Page>
  )
}
