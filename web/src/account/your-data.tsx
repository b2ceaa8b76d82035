import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Account } from '../api.ts'
import { domainsQuery } from '../dmarc/api.ts'
import { migrationsQuery } from '../migrations/api.ts'
import { hostsQuery } from '../monitoring/api.ts'
import { tokensQuery } from '../queries.ts'
import { Button } from '../ui/actions/button.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { FieldRow, Form, PasswordField, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { Muted, Stack } from '../ui/layout/page.tsx'
import { counted } from '../ui/text/format.ts'
import { endpointsQuery } from '../webhooks/api.ts'
import { EXPORT, profile } from './api.ts'

/** What people may do with all that is kept of them: take it along, and erase it. */
export function YourData({ account }: { account: Account }) {
  const [{ busy, problem }, setState] = useState({ busy: false, problem: '' })

  /** A download cannot ask for the password by itself. */
  async function download(): Promise<void> {
    setState({ busy: true, problem: '' })
    const failure = await profile.ensureRecentSignIn().then(
      () => '',
      (error: Error) => error.message,
    )
    setState({ busy: false, problem: failure })
    // The answer is an attachment: this page stays.
    if (failure === '') window.location.assign(EXPORT)
  }

  return (
    <Stack>
      <p>
        All that is kept of you, as one file: a JSON object a line, with the table it is from. Passwords, tokens and
        other secrets are not in it, because only their hashes or sealed texts are kept.
      </p>
      <div>
        <Button kind="quiet" size="small" icon="download" busy={busy} onClick={() => void download()}>
          Export my data
        </Button>
        <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      </div>
      <Disclosure summary="Erase the account">
        <Erase account={account} />
      </Disclosure>
    </Stack>
  )
}

function Erase({ account: { email, admin } }: { account: Account }) {
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function erase({ password = '' }: Record<string, string>): Promise<void> {
    await profile.deleteAccount(password)
    queries.clear()
    await navigate({ to: '/' })
  }

  return (
    <Stack>
      <Notice tone="warn" title="This is at once and for good. Nobody can bring it back.">
        <p>These are erased with the account:</p>
        <Lost />
      </Notice>
      <Muted>
        What you export before is yours. Backups of this Portreeve that were made before still hold it until they
        expire.
        {admin && ' The last administrator cannot be erased: make somebody else one before.'}
      </Muted>
      <Form onSubmit={erase} check={(values) => unsure(values, email)} submit="Erase my account" kind="danger">
        <FieldRow>
          <TextField
            name="email"
            label="Your e-mail, to be sure"
            placeholder={email}
            autoComplete="off"
            spellCheck={false}
          />
          <PasswordField name="password" label="Your password" autoComplete="current-password" />
        </FieldRow>
      </Form>
    </Stack>
  )
}

/** By name and number, as far as they are known by now. */
function Lost() {
  const { data: domains } = useQuery(domainsQuery)
  const { data: hosts } = useQuery(hostsQuery)
  const { data: list } = useQuery(migrationsQuery(1))
  const { data: hooks } = useQuery(endpointsQuery)
  const { data: tokens } = useQuery(tokensQuery)
  // What is not known yet is named all the same.
  const counts: [number | undefined, words: string, rest: string][] = [
    [domains?.length, 'DMARC domain', 'with all reports and statistics; reports that are still sent are refused'],
    [hosts?.length, 'monitored host', 'with all history and delisting cases'],
    [list?.pagination.total, 'migration', 'with what could not be copied; mail that was copied stays where it is'],
    [hooks?.length, 'webhook endpoint', 'with all captured requests'],
    [tokens?.length, 'API token', 'so whatever uses one is locked out'],
  ]
  return (
    <BulletList>
      {counts
        .filter(([count]) => count !== 0)
        .map(([count, word, rest]) => (
          <li key={word}>
            {count === undefined ? `Every ${word}` : counted(count, word)}, {rest}.
          </li>
        ))}
      <li>Your alerts and their channels, your sessions, and the account itself.</li>
    </BulletList>
  )
}

function unsure({ email = '', password }: Record<string, string>, own: string): Record<string, string> {
  return {
    ...(email.trim().toLowerCase() !== own.toLowerCase() && { email: `Type ${own}.` }),
    ...(!password && { password: 'Type the password you sign in with.' }),
  }
}
