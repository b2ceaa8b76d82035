import { ApiError } from '../../api.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import type { AlertChannelType } from '../api.ts'
import { test as messages } from './messages.ts'

/** What became of a test: the service’s answers, or the error. */
export type TestState = { responses: string[] } | { error: Error } | null

/** Shows whether a test arrived, and what to do where it did not. */
export function TestOutcome({
  state,
  type,
}: {
  state: TestState
  type: AlertChannelType | undefined
}) {
  const isError = state !== null && 'error' in state
  return (
    <div role={isError ? 'alert' : 'status'}>
      {isError && <TestError error={state.error} type={type} />}
      {state !== null && !isError && <Accepted {...state} type={type} />}
    </div>
  )
}

type AcceptedProps = { responses: string[]; type: AlertChannelType | undefined }

function Accepted({ responses, type }: AcceptedProps) {
  const answers = [...new Set(responses)].join(' ')
  return (
    <Notice tone="good" title={messages.sent}>
      {type?.hasSettings && <p>{messages.accepted(type.name)}</p>}
      {answers !== '' && (
        <p>
          <Muted>{messages.answer(answers)}</Muted>
        </p>
      )}
    </Notice>
  )
}

type TestErrorProps = { error: Error; type: AlertChannelType | undefined }

/** The error of a test; where the service rejects the settings, also the reasons and the fix. */
function TestError({ error, type }: TestErrorProps) {
  return (
    <Notice tone="bad">
      <p>{error.message}</p>
      {type?.manual && isRejection(error) && <Repair type={type} manual={type.manual} />}
    </Notice>
  )
}

function isRejection(error: Error): boolean {
  if (!(error instanceof ApiError) || error.code !== 'upstream_rejected') return false
  return error.details.some(({ path }) => path === 'settings')
}

type RepairProps = { type: AlertChannelType; manual: NonNullable<AlertChannelType['manual']> }

/** Why a service rejects settings, and what to create anew. */
function Repair({ type, manual }: RepairProps) {
  return (
    <>
      <p>
        {messages.rejected} {manual.disabling}
      </p>
      <p>
        {messages.repair} {type.docs}
      </p>
    </>
  )
}
