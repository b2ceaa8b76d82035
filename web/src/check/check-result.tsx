import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Stack } from '../ui/layout/page.tsx'
import type { CheckResponse } from './api.ts'
import { getCommand } from './curl-commands.ts'
import type { CheckKind } from './kinds/check-kind.ts'
import { result as messages } from './messages.ts'
import type { Verdict } from './kinds/verdict.ts'

type ResultProps = {
  kind: CheckKind
  answer: CheckResponse
  /** The same check in the API; undefined for results that are not checked again. */
  path?: string
}

/** The verdict of a check, the actions it suggests and the records it found. */
export function CheckResult({ kind, answer: { data, receipt, total = 0 }, path }: ResultProps) {
  return (
    <Stack>
      {receipt === null ? (
        <Progress data={data} total={total} />
      ) : (
        <VerdictLine {...kind.verdict(data)} />
      )}
      <kind.View data={data} />
      {receipt !== null && <Raw data={data} path={path} />}
    </Stack>
  )
}

function VerdictLine({ tone, sentence }: Verdict) {
  return (
    <div role="status">
      <Notice tone={tone}>
        <strong>{sentence}</strong>
      </Notice>
    </div>
  )
}

/** How many blocklists have answered so far. */
function Progress({ data, total }: { data: unknown; total: number }) {
  const { totalChecked, listedCount } = data as { totalChecked: number; listedCount: number }
  return (
    <>
      <Notice tone={listedCount > 0 ? 'bad' : 'info'}>
        <strong>{messages.progress(totalChecked, total, listedCount)}</strong>
      </Notice>
      <ProgressBar label={messages.answers} done={totalChecked} total={total} />
    </>
  )
}

/** The same answer as the API returns it. */
function Raw({ data, path }: { data: unknown; path: string | undefined }) {
  return (
    <Disclosure summary={messages.api}>
      {path !== undefined && <Snippet what={messages.command} text={getCommand(path)} />}
      <Snippet what={messages.json} text={JSON.stringify(data, null, 2)} />
    </Disclosure>
  )
}
