import { LabelsForm } from '../labels/labels-form.tsx'
import { labels as labelMessages } from '../labels/messages.ts'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { MuteButton } from '../alerts/silence/mutes.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted, Row, Stack } from '../ui/layout/page.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { domains, DOMAINS_KEY, watchQuery, type WatchedDomain } from './api.ts'
import { watching as messages } from './messages.ts'

type State = { busy: boolean; watched?: WatchedDomain; problem?: string }

type WatchPanelProps = {
  domain: string
  /** Shows nothing for other domains, such as one that does not exist. */
  onlyWatched?: boolean
  /** Called once the domain is watched: its DMARC record gets another address for reports. */
  onWatched?: () => void
}

/** Switches on, in one click, everything that Portreeve does for a domain. */
export function WatchPanel({ domain, onlyWatched = false, onWatched }: WatchPanelProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const { data: known } = useQuery(watchQuery(domain))
  const [{ busy, watched, problem }, setState] = useState<State>({ busy: false })
  const isWatched = known?.isWatched ?? false

  async function change(send: () => Promise<WatchedDomain | undefined>): Promise<void> {
    setState({ busy: true })
    try {
      const now = await send()
      await queries.invalidateQueries({ queryKey: DOMAINS_KEY })
      setState(now === undefined ? { busy: false } : { busy: false, watched: now })
      if (now !== undefined) onWatched?.()
    } catch (error) {
      setState({ busy: false, problem: (error as Error).message })
    }
  }

  async function saveLabels(labels: string[]): Promise<void> {
    await domains.changeLabels(domain, labels)
    await queries.invalidateQueries({ queryKey: DOMAINS_KEY })
  }

  if (onlyWatched && !isWatched) return null
  return (
    <Stack>
      <Row>
        {isWatched ? (
          <Button
            {...access}
            kind="quiet"
            busy={busy}
            onClick={() => void change(() => domains.unwatch(domain).then(() => undefined))}
          >
            {messages.unwatch}
          </Button>
        ) : (
          <Button
            {...access}
            kind="primary"
            icon="watch"
            busy={busy}
            onClick={() => void change(() => domains.watch(domain))}
          >
            {messages.watch}
          </Button>
        )}
        {isWatched && <MuteButton object={`/domains/${domain}`} name={domain} />}
        <Muted>{isWatched ? messages.on : messages.explanation}</Muted>
      </Row>
      {isWatched && known && (
        <Disclosure summary={labelMessages.title}>
          <LabelsForm labels={known.labels} save={saveLabels} />
        </Disclosure>
      )}
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <div role="status">{watched && <WatchResult {...watched} />}</div>
    </Stack>
  )
}

function WatchResult({ hosts, problems }: WatchedDomain) {
  if (problems.length === 0)
    return (
      <Notice tone="good">
        <strong>{messages.on}</strong>
        {hosts.length > 0 && <p>{messages.monitors(hosts)}</p>}
      </Notice>
    )
  return (
    <Notice tone="warn" title={messages.problems}>
      <BulletList>
        {problems.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </BulletList>
    </Notice>
  )
}
