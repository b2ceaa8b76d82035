import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { dmarc } from '../dmarc/api.ts'
import { Button, ButtonLink } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row } from '../ui/layout/page.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { DOMAINS_KEY, domainsQuery, watchQuery } from './api.ts'
import { links as messages } from './messages.ts'

/** Hosts with a link of their own; more lead to the list. */
const MAX_HOSTS = 3

type DomainLinksProps = {
  domain: string
  /** Called once the reports come to this service: the record to publish has its address then. */
  onReports: () => void
}

/** The monitored hosts and single checks of the domain, and its reports as long as they are not received. */
export function DomainLinks({ domain, onReports }: DomainLinksProps) {
  const { data: watch } = useQuery(watchQuery(domain))
  const { data: list } = useQuery(domainsQuery({ q: domain }))
  const { hosts = [], hostCount = 0 } = list?.domains.find((one) => one.domain === domain) ?? {}
  return (
    <Row>
      <ButtonLink size="small" kind="quiet" to="/check" search={{ q: domain }}>
        {messages.checks}
      </ButtonLink>
      {watch?.dmarcDomainId === null && <SendReports domain={domain} onReports={onReports} />}
      {hostCount > MAX_HOSTS ? (
        <ButtonLink size="small" kind="quiet" to="/monitoring" search={{ q: domain }}>
          {messages.hosts(hostCount)}
        </ButtonLink>
      ) : (
        hosts.map((host) => (
          <ButtonLink
            key={host.id}
            size="small"
            kind="quiet"
            to="/monitoring/$id"
            params={{ id: host.id }}
          >
            {messages.host(host.host)}
          </ButtonLink>
        ))
      )}
    </Row>
  )
}

/** Adds the domain to those whose reports are received, without watching the rest of it. */
function SendReports({ domain, onReports }: DomainLinksProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const [{ busy, problem }, setState] = useState({ busy: false, problem: '' })

  async function register(): Promise<void> {
    setState({ busy: true, problem: '' })
    try {
      await dmarc.register(domain)
      await queries.invalidateQueries({ queryKey: DOMAINS_KEY })
      await queries.invalidateQueries({ queryKey: ['dmarc'] })
      setState({ busy: false, problem: '' })
      onReports()
    } catch (error) {
      setState({ busy: false, problem: (error as Error).message })
    }
  }

  return (
    <>
      <Button {...access} size="small" busy={busy} onClick={() => void register()}>
        {messages.sendReports}
      </Button>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </>
  )
}
