import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { BlacklistResult } from '../../../src/diagnostics/shapes.ts'
import { HOSTS_KEY, hostsQuery, monitoring } from '../monitoring/api.ts'
import { Button, ButtonLink } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { checkQuery } from './api.ts'
import { blacklistKind } from './kinds/blacklist-kind.tsx'
import { guessTarget } from './guess-target.ts'
import { actions } from './messages.ts'
import { useAccess } from '../workspaces/roles.ts'

/** Starts monitoring a host, or links to its page when it is monitored already. */
export function MonitorAction({ host }: { host: string }) {
  const access = useAccess()
  const { data: hosts } = useQuery(hostsQuery({ host, limit: 1 }))
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [state, setState] = useState({ busy: false, problem: '' })
  const monitored = hosts?.rows[0]

  async function startMonitoring(): Promise<void> {
    setState({ busy: true, problem: '' })
    try {
      const { id } = await monitoring.add({ host })
      await queries.invalidateQueries({ queryKey: HOSTS_KEY })
      await navigate({ to: '/monitoring/$id', params: { id } })
    } catch (error) {
      setState({ busy: false, problem: (error as Error).message })
    }
  }

  if (!hosts) return null
  if (monitored) {
    return (
      <ButtonLink to="/monitoring/$id" params={{ id: monitored.id }}>
        {actions.showMonitored}
      </ButtonLink>
    )
  }
  return (
    <>
      <Button {...access} busy={state.busy} onClick={() => void startMonitoring()}>
        {guessTarget(host)?.kind === 'address' ? actions.monitorAddress : actions.monitor}
      </Button>
      <div role="alert">{state.problem && <Notice tone="bad">{state.problem}</Notice>}</div>
    </>
  )
}

/** Links to a new delisting of an address that is on a blocklist. */
export function DelistAction({ ip }: { ip: string }) {
  const access = useAccess()
  const { data: answer } = useQuery(checkQuery(blacklistKind, ip))
  const isListed = answer?.receipt && (answer.data as BlacklistResult).listedCount > 0
  if (!isListed) return null
  return (
    <ButtonLink {...access} to="/delisting/new" search={{ ip }}>
      {actions.delist}
    </ButtonLink>
  )
}
