import { Fragment } from 'react'
import { Ago } from '../ui/text/ago.tsx'
import { ExactTime } from '../ui/text/date-text.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Muted } from '../ui/layout/page.tsx'
import type { StepAnswer, Step } from './api.ts'
import { answers, request as requestWords } from './messages.ts'
import { RequestText } from './request-text.tsx'

/** The first and the latest answer of the list, and the time of the next check. */
export function StepAnswers({ step }: { step: Step }) {
  const { firstAnswer, lastAnswer, nextCheckAt, deadlineAt, endedAt, attempt, dnsbl } = step
  return (
    <Disclosure summary={answers.title}>
      <Facts
        facts={[
          [answers.zone, <code key="zone">{dnsbl}</code>],
          [answers.first, <AnswerText key="first" answer={firstAnswer} />],
          [
            answers.last,
            isSame(firstAnswer, lastAnswer) ? (
              <Fragment key="same">
                {answers.unchanged}
                <ExactTime at={lastAnswer.at} />
              </Fragment>
            ) : (
              <AnswerText key="last" answer={lastAnswer} />
            ),
          ],
          [answers.next, nextCheckAt && <ExactTime key="next" at={nextCheckAt} />],
          [
            answers.deadline,
            deadlineAt && !endedAt && <ExactTime key="deadline" at={deadlineAt} />,
          ],
          [answers.ended, endedAt && <ExactTime key="ended" at={endedAt} />],
          [answers.attempt, attempt > 1 ? String(attempt) : null],
        ]}
      />
    </Disclosure>
  )
}

function isSame(one: StepAnswer, other: StepAnswer): boolean {
  return (
    (['status', 'reason', 'detail'] as const).every((field) => one[field] === other[field]) &&
    one.codes.join() === other.codes.join()
  )
}

function AnswerText({
  answer: { status, codes, meanings, reason, detail, at },
}: {
  answer: StepAnswer
}) {
  const explanation = [...meanings, detail].filter(Boolean).join('. ')
  return (
    <>
      <p>
        {answers.statuses[status]}
        {codes.length > 0 && (
          <>
            {' '}
            (<code>{codes.join(', ')}</code>)
          </>
        )}
        , <ExactTime at={at} />
      </p>
      {explanation && <p>{explanation}</p>}
      {reason && <p>{answers.quoted(reason)}</p>}
    </>
  )
}

/** The latest answer of the list and its time, so that “Check again” has a visible result. */
export function LastChecked({ answer: { status, at } }: { answer: StepAnswer }) {
  return (
    <p>
      <Muted>
        {answers.lastChecked(status)} <Ago at={at} />
      </Muted>
    </p>
  )
}

/** The request as it was sent, with the response of the relay. */
export function SentRequest({ step }: { step: Step }) {
  const { request } = step
  if (!request || request.state === 'none') return null
  const { at, reply } = request
  return (
    <Disclosure summary={requestWords.title}>
      <RequestText step={step} />
      <Facts
        facts={[
          [requestWords.sent, at && <ExactTime key="at" at={at} />],
          [requestWords.relayReply, reply],
        ]}
      />
    </Disclosure>
  )
}
