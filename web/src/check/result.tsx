import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Stack } from '../ui/layout/page.tsx'
import type { Answer } from './api.ts'
import { curlOf } from './curl.ts'
import type { CheckKind } from './kind.ts'
import type { Verdict } from './verdict.ts'

type ResultProps = {
  kind: CheckKind
  answer: Answer
  /** How a program asks the same; left out where nothing is to be asked. */
  path?: string
}

/** What a check said: its verdict in a sentence, what to do, and what was found. */
export function Result({ kind, answer: { data, receipt, total = 0 }, path }: ResultProps) {
  return (
    <Stack>
      {receipt === null ? <Progress data={data} total={total} /> : <VerdictLine {...kind.verdict(data)} />}
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

/** Of answers that come one by one. */
function Progress({ data, total }: { data: unknown; total: number }) {
  const { totalChecked, listedCount } = data as { totalChecked: number; listedCount: number }
  return (
    <>
      <Notice tone={listedCount > 0 ? 'bad' : 'info'}>
        <strong>
          {totalChecked} of {total} have answered, {listedCount === 0 ? 'none lists it' : `${listedCount} list it`} so
          far.
        </strong>
      </Notice>
      <ProgressBar label="Answers" done={totalChecked} total={total} />
    </>
  )
}

/** The same answer as programs get it. */
function Raw({ data, path }: { data: unknown; path: string | undefined }) {
  return (
    <Disclosure summary="For programs">
      {path !== undefined && <Snippet what="the command" text={curlOf(path)} />}
      <Snippet what="the JSON" text={JSON.stringify(data, null, 2)} />
    </Disclosure>
  )
}
