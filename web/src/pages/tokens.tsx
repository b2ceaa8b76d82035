import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type NewApiToken, type WantedToken } from '../api.ts'
import { getCommand } from '../check/curl-commands.ts'
import { accountQuery, tokensQuery, useOwnDomain } from '../queries.ts'
import { TokenForm } from '../tokens/token-form.tsx'
import { TokenTable } from '../tokens/token-table.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Section, Muted, Stack } from '../ui/layout/page.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { tokens as messages } from '../tokens/messages.ts'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const { data: tokens = [] } = useQuery(tokensQuery)
  // Admins see the tokens of all members.
  const hasOthers = tokens.some(({ createdBy }) => createdBy.accountId !== account?.id)
  return (
    <Page wide title={messages.title} lead={messages.lead}>
      <NewToken />
      <p>
        <Muted>
          {messages.reportTokensBefore}{' '}
          <Link to="/attacks/servers">{messages.reportTokensLink}</Link>.
        </Muted>
      </p>
      <Section title={hasOthers ? messages.all : messages.yours}>
        <TokenList />
      </Section>
    </Page>
  )
}

function NewToken() {
  const queries = useQueryClient()
  const [created, setCreated] = useState<NewApiToken | null>(null)

  async function create(wanted: WantedToken): Promise<void> {
    setCreated(await api.createToken(wanted))
    await queries.invalidateQueries(tokensQuery)
  }

  return (
    <Card>
      <Stack>
        <TokenForm key={created?.id} onCreate={create} />
        <div role="status">{created && <CreatedToken {...created} />}</div>
      </Stack>
    </Card>
  )
}

function CreatedToken({ token, label, scopes }: NewApiToken) {
  const domain = useOwnDomain()
  const canCheck = scopes === null || scopes.some((scope) => /^(\*|checks):/.test(scope))
  return (
    <Notice tone="good" title={messages.created(label)}>
      <p>{messages.copyNow}</p>
      <Snippet what={messages.theToken} text={token} />
      {canCheck && (
        <>
          <p>{messages.tryIt}</p>
          <Snippet
            what={messages.theCommand}
            text={getCommand(`/api/v1/dns-check?domain=${encodeURIComponent(domain)}`, token)}
          />
        </>
      )}
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
  return <TokenTable tokens={tokens} />
}
