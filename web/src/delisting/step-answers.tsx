import { Fragment } from 'react'
import { Ago, ExactTime } from '../ui/text/ago.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Muted } from '../ui/layout/page.tsx'
import type { Answer, Step } from './api.ts'
import { RequestText } from './request-text.tsx'

/** What the list said, first and last, and when it is looked at again. */
export function StepAnswers({ step }: { step: Step }) {
  const { firstAnswer, lastAnswer, nextCheckAt, deadlineAt, endedAt, attempt, dnsbl } = step
  return (
    <Disclosure summary="What the list says">
      <Facts
        facts={[
          ['Asked', <code key="zone">{dnsbl}</code>],
          ['At first', <AnswerText key="first" answer={firstAnswer} />],
          [
            'Last time',
            isSame(firstAnswer, lastAnswer) ? (
              <Fragment key="same">
                The same, <ExactTime at={lastAnswer.at} />
              </Fragment>
            ) : (
              <AnswerText key="last" answer={lastAnswer} />
            ),
          ],
          ['Looked at next', nextCheckAt && <ExactTime key="next" at={nextCheckAt} />],
          ['Looked at until', deadlineAt && !endedAt && <ExactTime key="deadline" at={deadlineAt} />],
          ['Ended', endedAt && <ExactTime key="ended" at={endedAt} />],
          ['Attempt', attempt > 1 ? String(attempt) : null],
        ]}
      />
    </Disclosure>
  )
}

function isSame(one: Answer, other: Answer): boolean {
  return (
    (['status', 'reason', 'detail'] as const).every((field) => one[field] === other[field]) &&
    one.codes.join() === other.codes.join()
  )
}

const WORDS: Record<Answer['status'], string> = { listed: 'Listed', clean: 'Not listed', unknown: 'No usable answer' }

function AnswerText({ answer: { status, codes, meanings, reason, detail, at } }: { answer: Answer }) {
  const words = [...meanings, detail].filter(Boolean).join('. ')
  return (
    <>
      <p>
        {WORDS[status]}
        {codes.length > 0 && (
          <>
            {' '}
            (<code>{codes.join(', ')}</code>)
          </>
        )}
        , <ExactTime at={at} />
      </p>
      {words && <p>{words}</p>}
      {reason && <p>“{reason}”</p>}
    </>
  )
}

/** What the list said last: where “Ask the list now” shows that it was asked. */
export function LastChecked({ answer: { status, at } }: { answer: Answer }) {
  return (
    <p>
      <Muted>
        {WORDS[status]} when last asked, <Ago at={at} />
      </Muted>
    </p>
  )
}

/** What the list, or the owner of the network, was asked. */
export function SentRequest({ step }: { step: Step }) {
  const { request } = step
  if (!request || request.state === 'none') return null
  const { at, reply } = request
  return (
    <Disclosure summary="What was asked">
      <RequestText step={step} />
      <Facts
        facts={[
          ['At', at && <ExactTime key="at" at={at} />],
          ['The relay said', reply],
        ]}
      />
    </Disclosure>
  )
}
