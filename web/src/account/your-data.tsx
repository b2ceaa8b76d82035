import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { inService } from '../base-path.ts'
import type { Account } from '../api.ts'
import { domainsQuery } from '../dmarc/api.ts'
import { migrationsQuery } from '../migrations/api.ts'
import { hostsQuery } from '../monitoring/api.ts'
import { tokensQuery } from '../queries.ts'
import { announceSession } from '../session.ts'
import { Button } from '../ui/actions/button.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { FieldRow, Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { Muted, Stack } from '../ui/layout/page.tsx'
import { endpointsQuery } from '../webhooks/api.ts'
import { EXPORT, profile, methodsQuery } from './api.ts'
import { yourData as messages } from './messages.ts'

/** Export of all data of the account, and its deletion. */
export function YourData({ account }: { account: Account }) {
  const [{ busy, problem }, setState] = useState({ busy: false, problem: '' })

  /** Asks for the password first where needed: a download cannot show the prompt. */
  async function download(): Promise<void> {
    setState({ busy: true, problem: '' })
    const failure = await profile.ensureRecentSignIn().then(
      () => '',
      (error: Error) => error.message,
    )
    setState({ busy: false, problem: failure })
    // The response is an attachment, so the page stays open.
    if (failure === '') window.location.assign(inService(EXPORT))
  }

  return (
    <Stack>
      <p>{messages.exportText}</p>
      <div>
        <Button
          kind="quiet"
          size="small"
          icon="download"
          busy={busy}
          onClick={() => void download()}
        >
          {messages.export}
        </Button>
        <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      </div>
      <Disclosure summary={messages.deleteSummary}>
        <DeleteAccount account={account} />
      </Disclosure>
    </Stack>
  )
}

function DeleteAccount({ account: { email, admin } }: { account: Account }) {
  const queries = useQueryClient()
  const navigate = useNavigate()

  const { data: methods } = useQuery(methodsQuery)

  async function deleteAccount({ password }: Record<string, string>): Promise<void> {
    await profile.deleteAccount(password)
    queries.clear()
    announceSession('signed-out')
    await navigate({ to: '/' })
  }

  return (
    <Stack>
      <Notice tone="warn" title={messages.deleteWarning}>
        <p>{messages.deleteList}</p>
        <DeletedItems />
      </Notice>
      <Muted>
        {messages.afterDelete} {admin && messages.lastAdministrator}
      </Muted>
      <Form
        onSubmit={deleteAccount}
        check={(values) => problemsOf(values, email)}
        submit={messages.delete}
        kind="danger"
      >
        <FieldRow>
          <TextField
            name="email"
            label={messages.confirmEmail}
            placeholder={email}
            spellCheck={false}
          />
          {methods?.password !== false && (
            <PasswordField
              name="password"
              label={messages.confirmPassword}
              autoComplete="current-password"
            />
          )}
        </FieldRow>
      </Form>
    </Stack>
  )
}

/** The kinds of objects that are deleted with the account, with their counts once loaded. */
function DeletedItems() {
  const { data: domains } = useQuery(domainsQuery)
  const { data: hosts } = useQuery(hostsQuery({ limit: 1 }))
  const { data: list } = useQuery(migrationsQuery())
  const { data: hooks } = useQuery(endpointsQuery)
  const { data: tokens } = useQuery(tokensQuery)
  // A kind whose count is not loaded yet is listed without a number.
  const counts: [number | undefined, item: { name: string; detail: string }][] = [
    [domains?.length, messages.items.domains],
    [hosts?.pagination.total, messages.items.hosts],
    [list?.pagination.total, messages.items.migrations],
    [hooks?.length, messages.items.endpoints],
    [tokens?.length, messages.items.tokens],
  ]
  return (
    <BulletList>
      {counts
        .filter(([count]) => count !== 0)
        .map(([count, { name, detail }]) => (
          <li key={name}>{messages.item(count, name, detail)}</li>
        ))}
      <li>{messages.remaining}</li>
    </BulletList>
  )
}

function problemsOf(
  { email = '', password }: Record<string, string>,
  own: string,
): Record<string, string> {
  return {
    ...(email.trim().toLowerCase() !== own.toLowerCase() && { email: messages.enterEmail(own) }),
    ...(password === '' && { password: messages.enterPassword }),
  }
}
