import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { serviceQuery } from '../queries.ts'
import { Form } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { setup as messages } from '../account/messages.ts'
import { checkNewAccount, NewAccountFields } from '../account/new-account-fields.tsx'
import { TextWithCode } from '../ui/text/text-with-code.tsx'

export function Screen() {
  const { data: service } = useQuery(serviceQuery)
  // Browsers do not send the fragment, so the token reaches no log on the way.
  const [token] = useState(() => window.location.hash.slice(1))
  if (service?.setupNeeded === false) return <AlreadySetUp />
  return (
    <Page title={messages.title} narrow lead={messages.lead}>
      {token ? <SetupForm token={token} /> : <NoToken />}
    </Page>
  )
}

function SetupForm({ token }: { token: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function setUp({
    name = '',
    email = '',
    password = '',
  }: Record<string, string>): Promise<void> {
    await api.setUp({
      token,
      email: email.trim(),
      password,
      ...(name.trim() && { name: name.trim() }),
    })
    // Everything cached so far belongs to the signed-out state.
    queries.clear()
    await navigate({ to: '/home', replace: true })
  }

  return (
    <Card>
      <Form onSubmit={setUp} check={checkNewAccount} submit={messages.submit}>
        <NewAccountFields name={{ label: messages.name, hint: messages.nameHint }} autoFocus />
      </Form>
    </Card>
  )
}

function NoToken() {
  return (
    <Notice tone="warn" title={messages.incompleteTitle}>
      <p>
        <TextWithCode text={messages.incomplete} />
      </p>
    </Notice>
  )
}

function AlreadySetUp() {
  return (
    <Page title={messages.doneTitle} narrow lead={messages.doneLead}>
      <p>
        <Link to="/sign-in">{messages.signIn}</Link>
      </p>
    </Page>
  )
}
