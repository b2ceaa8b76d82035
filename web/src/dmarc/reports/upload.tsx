import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { FileDrop } from '../../ui/forms/file-drop.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { dmarc, type ImportedDomains, type UploadResult } from '../api.ts'
import { upload as messages } from '../messages.ts'
import { utcDayText } from '../../ui/text/dates.ts'
import { periodWithReports } from '../search.ts'
import { MissingDomains } from './missing-domains.tsx'
import { splitIntoBatches } from './batches.ts'
import { useAccess } from '../../workspaces/roles.ts'

type State = { done: UploadResult | null; remaining: number; problem: string }

/** Rejected files named here; the list of rejected reports has all of them. */
const MAX_NAMED_FILES = 5

const NOTHING: UploadResult = {
  stored: 0,
  duplicates: 0,
  failureReports: 0,
  rejected: [],
  domains: [],
}

/** Uploads report files and shows the result. */
export function Upload() {
  const access = useAccess()
  const queries = useQueryClient()
  const [{ done, remaining, problem }, setState] = useState<State>({
    done: null,
    remaining: 0,
    problem: '',
  })

  const [sent, setSent] = useState<File[]>([])

  async function send(files: File[], before: UploadResult = NOTHING): Promise<void> {
    let sum = before
    let waiting = files.length
    setSent(files)
    setState({ done: null, remaining: waiting, problem: '' })
    try {
      for (const batch of splitIntoBatches(files)) {
        const form = new FormData()
        for (const file of batch) form.append('file', file)
        const result = await dmarc.upload(form)
        // Of files that are sent again, duplicates are no news.
        sum = addResults(sum, before === NOTHING ? result : { ...result, duplicates: 0 })
        waiting -= batch.length
        setState({ done: sum, remaining: waiting, problem: '' })
      }
    } catch (error) {
      setState({ done: sum, remaining: 0, problem: (error as Error).message })
    }
    await queries.invalidateQueries({ queryKey: ['dmarc'] })
  }

  /** The service has read the files again that it stores. The others are here still. */
  async function showAdded(added: ImportedDomains): Promise<void> {
    if (done === null) return
    const known = new Set(
      added.results.flatMap(({ name, status }) =>
        name !== null && (status === 'added' || status === 'exists') ? [name] : [],
      ),
    )
    const left = done.rejected.filter(({ domain }) => domain === null || !known.has(domain))
    const sum = addResults({ ...done, rejected: [] }, { ...NOTHING, ...added.reports })
    const isAll = added.reports.stored >= done.rejected.length - left.length
    if (isAll) setState({ done: { ...sum, rejected: left }, remaining: 0, problem: '' })
    else await send(sent, sum)
  }

  return (
    <Stack>
      <FileDrop
        {...access}
        label={remaining > 0 ? messages.remaining(remaining) : messages.choose}
        hint={messages.hint}
        busy={remaining > 0}
        onFiles={(files) => void send(files)}
      />
      <div role="status">{done && remaining === 0 && <Result {...done} onAdded={showAdded} />}</div>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </Stack>
  )
}

function addResults(one: UploadResult, other: UploadResult): UploadResult {
  return {
    stored: one.stored + other.stored,
    duplicates: one.duplicates + other.duplicates,
    failureReports: one.failureReports + other.failureReports,
    rejected: [...one.rejected, ...other.rejected],
    domains: other.domains.reduce(addDomain, one.domains),
  }
}

type UploadedDomain = UploadResult['domains'][number]

function addDomain(all: UploadedDomain[], one: UploadedDomain): UploadedDomain[] {
  const known = all.find(({ id }) => id === one.id)
  if (!known) return [...all, one]
  const sum = {
    ...one,
    reports: known.reports + one.reports,
    from: known.from < one.from ? known.from : one.from,
    to: known.to > one.to ? known.to : one.to,
  }
  return all.map((each) => (each === known ? sum : each))
}

type ResultProps = UploadResult & { onAdded: (added: ImportedDomains) => Promise<void> }

function Result({ stored, duplicates, failureReports, rejected, domains, onAdded }: ResultProps) {
  const others = rejected.filter(({ domain }) => domain === null)
  return (
    <Notice tone={rejected.length > 0 ? 'warn' : 'good'}>
      <strong>{messages.summary(stored, duplicates, failureReports, rejected.length)}</strong>
      {domains.slice(0, MAX_NAMED_FILES).map(({ id, domain, reports, from, to }) => (
        <p key={id}>
          <Link to="/dmarc/$id" params={{ id }} search={periodWithReports({ from, to })}>
            {domain}
          </Link>
          {messages.storedFor(reports, utcDayText(from), utcDayText(to))}
        </p>
      ))}
      <MissingDomains rejected={rejected} onAdded={onAdded} />
      {others.slice(0, MAX_NAMED_FILES).map(({ name, reason }, index) => (
        <p key={index}>{messages.reason(name, reason)}</p>
      ))}
      {rejected.length > 0 && (
        <p>
          <Link to="/dmarc/rejected">{messages.allRejected}</Link>
        </p>
      )}
    </Notice>
  )
}
