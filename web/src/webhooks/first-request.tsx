import { useState } from 'react'
import { useStreamState } from '../live-updates.ts'
import { Button } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { ConnectionStatus } from '../ui/feedback/connection-status.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import type { Endpoint } from './api.ts'

/** What an endpoint shows before anything came: a command that makes it come. */
export function FirstRequest({ endpoint }: { endpoint: Endpoint }) {
  const link = useStreamState()
  return (
    <div>
      <Empty icon="hook" title="Waiting for the first request …">
        <p>
          <Muted>Have this address called from anywhere; what comes shows here the moment it arrives:</Muted>
        </p>
        <Snippet what="the address" text={endpoint.url} />
        <p>
          <Muted>Or try it now:</Muted>
        </p>
        <Snippet what="the command" text={curlOf(endpoint.url)} />
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

/** A request from this browser: what is under way can be seen without leaving the screen. */
export function SendTest({ endpoint: { token } }: { endpoint: Endpoint }) {
  const [busy, setBusy] = useState(false)

  async function send(): Promise<void> {
    setBusy(true)
    // What it is answered is the endpoint's own affair; that it came shows in the list.
    await fetch(`/webhooks/${token}/test`, {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ hello: 'world', sentBy: 'the dashboard', at: new Date().toISOString() }),
    }).catch(() => {})
    setBusy(false)
  }

  return (
    <Button size="small" icon="send" busy={busy} onClick={() => void send()}>
      Send a test request
    </Button>
  )
}
