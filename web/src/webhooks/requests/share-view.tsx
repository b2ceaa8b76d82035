import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Snippet } from '../../ui/actions/copy.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { CheckField, Form, SelectField } from '../../ui/forms/form.tsx'
import { Muted, Stack } from '../../ui/layout/page.tsx'
import { Until } from '../../ui/text/ago.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { sharesOf, sharesQuery, type Share } from '../api.ts'
import { SHARE_DAYS, sharing as messages } from '../messages.ts'

type ShareViewProps = { endpointId: string; requestId: string }

/** The public links of a request. */
export function ShareView({ endpointId, requestId }: ShareViewProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const query = sharesQuery(endpointId)
  const { data: shares, error } = useQuery(query)
  const own = shares?.filter((each) => each.requestId === requestId) ?? []

  async function create(values: Record<string, string>): Promise<void> {
    const settings = { days: Number(values['days'] ?? '7'), body: values['body'] === 'on' }
    await sharesOf(endpointId).create(requestId, settings)
    await queries.invalidateQueries(query)
  }

  return (
    <Stack>
      <Muted>{messages.hint}</Muted>
      <LoadingOrError there={shares} error={error} lines={1}>
        {messages.loading}
      </LoadingOrError>
      {own.map((each) => (
        <SharedLink key={each.id} endpointId={endpointId} share={each} />
      ))}
      <Form {...access} onSubmit={create} submit={messages.create} kind="plain">
        <SelectField name="days" label={messages.days} choices={SHARE_DAYS} defaultValue="7" />
        <CheckField name="body" label={messages.body} hint={messages.bodyHint} />
      </Form>
    </Stack>
  )
}

function SharedLink({ endpointId, share }: { endpointId: string; share: Share }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')
  async function end(): Promise<void> {
    try {
      await sharesOf(endpointId).end(share.id)
      await queries.invalidateQueries(sharesQuery(endpointId))
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <Stack>
      <Snippet text={share.url} what={messages.link} />
      <div>
        <Muted>
          {share.body ? messages.withBody : messages.withoutBody} · {messages.expires}{' '}
          <Until at={share.expiresAt} />
        </Muted>{' '}
        <Button {...access} size="small" kind="quiet" onClick={() => void end()}>
          {messages.end}
        </Button>
      </div>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </Stack>
  )
}
