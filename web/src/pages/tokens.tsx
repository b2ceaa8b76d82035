import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type ApiToken, type NewApiToken } from '../api.ts'
import { getCommand } from '../check/curl-commands.ts'
import { tokensQuery, useOwnDomain } from '../queries.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Form, TextField } from '../ui/forms/form.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { tokens as messages } from '../account/messages.ts'
import { TextWithCode } from '../ui/text/text-with-code.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  return (
    <Page title={messages.title} lead={messages.lead}>
      <NewToken />
      <p>
        <Muted>
          {messages.reportTokensBefore}{' '}
          <Link to="/attacks/servers">{messages.reportTokensLink}</Link>.
        </Muted>
      </p>
      <Section title={messages.yours}>
        <TokenList />
      </Section>
    </Page>
  )
}

function NewToken() {
  const access = useAccess()
  const queries = useQueryClient()
  const [created, setCreated] = useState<NewApiToken | null>(null)

  async function create({ label = '' }: Record<string, string>): Promise<void> {
    setCreated(await api.createToken(label.trim()))
    await queries.invalidateQueries(tokensQuery)
  }

  return (
    <Card>
      <Stack>
        <Form key={created?.id} {...access} onSubmit={create} submit={messages.create}>
          <TextField
            name="label"
            label={messages.name}
            placeholder={messages.namePlaceholder}
            maxLength={100}
            autoComplete="off"
          />
        </Form>
        <div role="status">{created && <CreatedToken {...created} />}</div>
      </Stack>
    </Card>
  )
}

function CreatedToken({ token, label }: NewApiToken) {
  const domain = useOwnDomain()
  return (
    <Notice tone="good" title={messages.created(label)}>
      <p>{messages.copyNow}</p>
      <Snippet what={messages.theToken} text={token} />
      <p>{messages.tryIt}</p>
      <Snippet
        what={messages.theCommand}
        text={getCommand(`/api/v1/dns-check?domain=${encodeURIComponent(domain)}`, token)}
      />
    </Notice>
  )
}

function TokenList() {
  const { data: tokens, error } = useQuery(tokensQuery)
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!tokens)
    return (
      <Loading lines={2} shape="list">
        {messages.loading}
      </Loading>
    )
  if (tokens.length === 0) return <Muted>{messages.empty}</Muted>
  return (
    <List>
      {tokens.map((token) => (
        <TokenItem key={token.id} {...token} />
      ))}
    </List>
  )
}

function TokenItem({ id, label, lastFour, createdAt, lastUsedAt }: ApiToken) {
  const access = useAccess()
  const queries = useQueryClient()
  const name = label || messages.unnamed

  async function revoke(): Promise<void> {
    await api.revokeToken(id)
    await queries.invalidateQueries(tokensQuery)
  }

  return (
    <ListItem
      title={name}
      action={
        <ConfirmButton
          {...access}
          label={messages.revoke}
          about={name}
          title={messages.revokeTitle(name)}
          onConfirm={revoke}
        >
          <TextWithCode text={messages.revokeEffect(lastFour)} />
        </ConfirmButton>
      }
    >
      <code>{messages.masked(lastFour)}</code> · {messages.createdLabel} <DateText at={createdAt} />{' '}
      ·{' '}
      {lastUsedAt ? (
        <>
          {messages.lastUsed} <DateText at={lastUsedAt} />
        </>
      ) : (
        messages.neverUsed
      )}
    </ListItem>
  )
}
