import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { FileDrop } from '../../ui/forms/file-drop.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { counted, numberText } from '../../ui/text/format.ts'
import { dmarc, type UploadResult } from '../api.ts'
import { splitIntoBatches } from './batches.ts'

type State = { done: UploadResult | null; left: number; problem: string }

/** Rejected files that are named; all of them stand in the list of what was set aside. */
const SOME = 5

/** Takes report files, and says what became of them. */
export function Upload() {
  const queries = useQueryClient()
  const [{ done, left, problem }, setState] = useState<State>({ done: null, left: 0, problem: '' })

  async function send(files: File[]): Promise<void> {
    let sum: UploadResult = { stored: 0, duplicates: 0, failureReports: 0, rejected: [] }
    let waiting = files.length
    setState({ done: null, left: waiting, problem: '' })
    try {
      for (const batch of splitIntoBatches(files)) {
        const form = new FormData()
        for (const file of batch) form.append('file', file)
        sum = added(sum, await dmarc.upload(form))
        waiting -= batch.length
        setState({ done: sum, left: waiting, problem: '' })
      }
    } catch (error) {
      setState({ done: sum, left: 0, problem: (error as Error).message })
    }
    await queries.invalidateQueries({ queryKey: ['dmarc'] })
  }

  return (
    <Stack>
      <FileDrop
        label={left > 0 ? `${counted(left, 'file')} to go …` : 'Choose report files'}
        hint="Or drop them here: XML, JSON, gzip, zip, whole mails and mbox files."
        busy={left > 0}
        onFiles={(files) => void send(files)}
      />
      <div role="status">{done && left === 0 && <Outcome {...done} />}</div>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </Stack>
  )
}

function added(one: UploadResult, other: UploadResult): UploadResult {
  return {
    stored: one.stored + other.stored,
    duplicates: one.duplicates + other.duplicates,
    failureReports: one.failureReports + other.failureReports,
    rejected: [...one.rejected, ...other.rejected],
  }
}

function Outcome({ stored, duplicates, failureReports, rejected }: UploadResult) {
  const parts = [
    `${counted(stored, 'report')} stored`,
    duplicates > 0 && `${numberText(duplicates)} stored already`,
    failureReports > 0 && `${counted(failureReports, 'failure report')} counted and not kept`,
    rejected.length > 0 && `${numberText(rejected.length)} set aside`,
  ]
  return (
    <Notice tone={rejected.length > 0 ? 'warn' : 'good'}>
      <strong>{parts.filter(Boolean).join(', ')}.</strong>
      {rejected.slice(0, SOME).map(({ name, reason }, index) => (
        <p key={index}>
          {name}: {reason}
        </p>
      ))}
      {rejected.length > 0 && (
        <p>
          <Link to="/dmarc/rejected">All that was set aside</Link>
        </p>
      )}
    </Notice>
  )
}
