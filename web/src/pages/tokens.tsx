import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type ApiToken, type NewApiToken } from '../api.ts'
import { curlOf } from '../check/curl.ts'
import { tokensQuery, useOwnDomain } from '../queries.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Form, TextField } from '../ui/forms/form.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { Loading } from '../ui/feedback/loading.tsx'

export function Screen() {
  return (
    <Page
      title="API tokens"
      lead="A token lets a program use Portreeve in your name. It can do what you can, except make other tokens."
    >
      <NewToken />
      <p>
        <Muted>
          Servers that report attacks have <Link to="/attacks/servers">report tokens</Link> of their own.
        </Muted>
      </p>
      <Section title="Your tokens">
        <TokenList />
      </Section>
    </Page>
  )
}

function NewToken() {
  const queries = useQueryClient()
  const [made, setMade] = useState<NewApiToken | null>(null)

  async function make({ label = '' }: Record<string, string>): Promise<void> {
    setMade(await api.createToken(label.trim()))
    await queries.invalidateQueries(tokensQuery)
  }

  return (
    <Card>
      <Stack>
        <Form key={made?.id} onSubmit={make} submit="Make a token">
          <TextField name="label" label="What is it for?" placeholder="monitoring" maxLength={100} autoComplete="off" />
        </Form>
        <div role="status">{made && <MadeToken {...made} />}</div>
      </Stack>
    </Card>
  )
}

function MadeToken({ token, label }: NewApiToken) {
  const domain = useOwnDomain()
  return (
    <Notice tone="good" title={label ? `The token “${label}” is made` : 'The token is made'}>
      <p>Copy it now: it is shown this once, and nobody can look it up later.</p>
      <Snippet what="the token" text={token} />
      <p>Try it:</p>
      <Snippet what="the command" text={curlOf(`/api/v1/dns-check?domain=${encodeURIComponent(domain)}`, token)} />
    </Notice>
  )
}

function TokenList() {
  const { data: tokens, error } = useQuery(tokensQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!tokens) return <Loading lines={2}>Fetching your tokens …</Loading>
  if (tokens.length === 0) return <Muted>You have none yet.</Muted>
  return (
    <List>
      {tokens.map((token) => (
        <TokenItem key={token.id} {...token} />
      ))}
    </List>
  )
}

function TokenItem({ id, label, lastFour, createdAt, lastUsedAt }: ApiToken) {
  const queries = useQueryClient()
  const name = label || 'Without a label'

  async function revoke(): Promise<void> {
    await api.revokeToken(id)
    await queries.invalidateQueries(tokensQuery)
  }

  return (
    <ListItem
      title={name}
      action={
        <ConfirmButton label="Revoke" about={name} title={`Revoke “${name}”?`} onConfirm={revoke}>
          Programs that use the token ending in <code>{lastFour}</code> are turned away from now on. This cannot be
          undone.
        </ConfirmButton>
      }
    >
      <code>prv_…{lastFour}</code> · made <DateText at={createdAt} /> ·{' '}
      {lastUsedAt ? (
        <>
          last used <DateText at={lastUsedAt} />
        </>
      ) : (
        'never used'
      )}
    </ListItem>
  )
}
