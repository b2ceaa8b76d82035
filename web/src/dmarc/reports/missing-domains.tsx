import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { CheckField } from '../../ui/forms/form.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { dmarc, type ImportedDomains } from '../api.ts'
import { missingDomains as messages } from '../messages.ts'

/** Domains that are offered at once. */
const MAX_DOMAINS = 20

type MissingDomainsProps = {
  /** Rejected reports, with the domains that would have to be added. */
  rejected: { domain: string | null }[]
  /** Called once the domains are added. */
  onAdded?: (added: ImportedDomains) => Promise<void>
}

/** Adds the domains of rejected reports, which are read then. */
export function MissingDomains({ rejected, onAdded }: MissingDomainsProps) {
  const access = useAccess()
  const queries = useQueryClient()
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [{ busy, problem, done }, setState] = useState({ busy: false, problem: '', done: '' })
  const counts = new Map<string, number>()
  for (const { domain } of rejected)
    if (domain !== null) counts.set(domain, (counts.get(domain) ?? 0) + 1)
  const offered = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, MAX_DOMAINS)
  const chosen = offered.flatMap(([domain]) => (left.has(domain) ? [] : [domain]))
  const reports = [...counts.values()].reduce((sum, count) => sum + count, 0)

  async function add(): Promise<void> {
    setState({ busy: true, problem: '', done: '' })
    try {
      const added = await dmarc.registerSeveral(chosen.map((domain) => ({ domain })))
      await onAdded?.(added)
      await queries.invalidateQueries({ queryKey: ['dmarc'] })
      const failed = added.results.find(({ status }) => status === 'invalid' || status === 'limit')
      setState({
        busy: false,
        problem: failed?.message ?? '',
        done: messages.done(added.added, added.reports.stored),
      })
    } catch (error) {
      setState({ busy: false, problem: (error as Error).message, done: '' })
    }
  }

  const result = (
    <>
      <div role="status">{done && <Notice tone="good">{done}</Notice>}</div>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </>
  )
  if (counts.size === 0) return result
  return (
    <Stack>
      <p>{messages.text(reports)}</p>
      <div>
        {offered.map(([domain, count]) => (
          <CheckField
            key={domain}
            name={domain}
            label={messages.domain(domain, count)}
            defaultChecked
            onChoose={() => setLeft(new Set([domain]).symmetricDifference(left))}
          />
        ))}
      </div>
      <div>
        <Button {...access} busy={busy} disabled={chosen.length === 0} onClick={() => void add()}>
          {messages.add}
        </Button>
      </div>
      {result}
    </Stack>
  )
}
