import { useState } from 'react'
import { inService } from '../base-path.ts'
import { useStreamState } from '../live-updates.ts'
import { Button } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { ConnectionStatus } from '../ui/feedback/connection-status.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import type { Endpoint } from './api.ts'
import { firstRequest } from './messages.ts'

/** An endpoint without requests: a command that sends the first one. */
export function FirstRequest({ endpoint }: { endpoint: Endpoint }) {
  const link = useStreamState()
  return (
    <div>
      <Empty icon="hook" title={firstRequest.title}>
        <p>
          <Muted>{firstRequest.explanation}</Muted>
        </p>
        <Snippet what={firstRequest.url} text={endpoint.url} />
        <p>
          <Muted>{firstRequest.or}</Muted>
        </p>
        <Snippet what={firstRequest.command} text={curlOf(endpoint.url)} />
        <Row>
          <SendTest endpoint={endpoint} />
          <ConnectionStatus link={link} />
        </Row>
      </Empty>
    </div>
  )
}

function curlOf(url: string): string {
  return `curl -i "${url}" \\\n  -H "Content-Type: application/json" \\\n  -d '{"hello": "world"}'`
}

/** Sends a request from this browser. */
export function SendTest({ endpoint: { token } }: { endpoint: Endpoint }) {
  const [busy, setBusy] = useState(false)

  async function send(): Promise<void> {
    setBusy(true)
    // The list shows that it arrived; its response doesn't matter.
    await fetch(inService(`/webhooks/${token}/test`), {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        hello: 'world',
        sentBy: 'the dashboard',
        at: new Date().toISOString(),
      }),
    }).catch(() => {})
    setBusy(false)
  }

  return (
    <Button size="small" icon="send" busy={busy} onClick={() => void send()}>
      {firstRequest.sendTest}
    </Button>
  )
}
