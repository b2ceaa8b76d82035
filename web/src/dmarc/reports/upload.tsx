import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { FileDrop } from '../../ui/forms/file-drop.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { dmarc, type UploadResult } from '../api.ts'
import { upload as messages } from '../messages.ts'
import { splitIntoBatches } from './batches.ts'
import { useAccess } from '../../workspaces/roles.ts'

type State = { done: UploadResult | null; remaining: number; problem: string }

/** Rejected files named here; the list of rejected reports has all of them. */
const MAX_NAMED_FILES = 5

/** Uploads report files and shows the result. */
export function Upload() {
  const access = useAccess()
  const queries = useQueryClient()
  const [{ done, remaining, problem }, setState] = useState<State>({
    done: null,
    remaining: 0,
    problem: '',
  })

  async function send(files: File[]): Promise<void> {
    let sum: UploadResult = { stored: 0, duplicates: 0, failureReports: 0, rejected: [] }
    let waiting = files.length
    setState({ done: null, remaining: waiting, problem: '' })
    try {
      for (const batch of splitIntoBatches(files)) {
        const form = new FormData()
        for (const file of batch) form.append('file', file)
        sum = addResults(sum, await dmarc.upload(form))
        waiting -= batch.length
        setState({ done: sum, remaining: waiting, problem: '' })
      }
    } catch (error) {
      setState({ done: sum, remaining: 0, problem: (error as Error).message })
    }
    await queries.invalidateQueries({ queryKey: ['dmarc'] })
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
      <div role="status">{done && remaining === 0 && <Result {...done} />}</div>
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
  }
}

function Result({ stored, duplicates, failureReports, rejected }: UploadResult) {
  return (
    <Notice tone={rejected.length > 0 ? 'warn' : 'good'}>
      <strong>{messages.summary(stored, duplicates, failureReports, rejected.length)}</strong>
      {rejected.slice(0, MAX_NAMED_FILES).map(({ name, reason }, index) => (
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
