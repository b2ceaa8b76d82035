import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { TitledCard } from '../ui/layout/titled-card.tsx'
import { delistingQuery, delisting, type Delisting, type DelistingWithHistory, type Step } from './api.ts'
import { SentRequest, StepAnswers, LastChecked } from './step-answers.tsx'
import { RequestText } from './request-text.tsx'
import { CATEGORIES, isFinal, isNotRequested, canRetry, METHODS, describeStepStatus } from './status.ts'
import { CauseAndFixForm } from './cause-and-fix-form.tsx'

type StepProps = { of: Delisting; step: Step }

/** One list: how it stands, what to do now, and what the list said. */
export function StepCard({ of, step }: StepProps) {
  const { blacklistName, category, method, nextStep } = step
  const { tone, word } = describeStepStatus(step)
  return (
    <TitledCard title={blacklistName} aside={<Status tone={tone}>{word}</Status>}>
      <p>
        <Muted>
          {CATEGORIES[category]} {METHODS[method]}
        </Muted>
      </p>
      <p>{nextStep}</p>
      {!isFinal(step) && <LastChecked answer={step.lastAnswer} />}
      <Need of={of} step={step} />
      <SentRequest step={step} />
      <StepAnswers step={step} />
      <Actions of={of} step={step} />
    </TitledCard>
  )
}

/** What a person needs for doing it: first the words, then the text with them, and the page. */
function Need({ of, step }: StepProps) {
  const { needs, method, url, blacklistName } = step
  if (isFinal(step)) return null
  if (method === 'provider') return <RequestText step={step} />
  if (!isNotRequested(step)) return null
  const isSilent = needs === 'confirm' || of.cause === null
  return (
    <>
      {/* What was said for another list is there to be confirmed for this one. */}
      {isSilent ? <CauseAndFixForm key={`${of.cause} ${of.fix}`} of={of} step={step} /> : <RequestText step={step} />}
      {url && (needs === 'submit' || needs === 'send') && (
        <a href={url} target="_blank" rel="noreferrer">
          Open the page of {blacklistName}
        </a>
      )}
    </>
  )
}

/** The buttons, each while its turn is. */
function Actions({ of, step }: StepProps) {
  const { id, blacklistName, status, needs } = step
  const { run, busy, problem } = useActions(of.id)
  if (isFinal(step) && !canRetry(step)) return null
  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <Row>
        {(needs === 'submit' || needs === 'send') && (
          <Button
            kind={of.cause === null ? 'plain' : 'primary'}
            busy={busy === 'submitted'}
            onClick={() => void run('submitted', id)}
          >
            {needs === 'submit' ? 'I have submitted it' : 'I have sent it'}{' '}
            <VisuallyHidden>to {blacklistName}</VisuallyHidden>
          </Button>
        )}
        {canRetry(step) && (
          <Button size="small" busy={busy === 'retry'} onClick={() => void run('retry', id)}>
            {status === 'failed' ? 'Begin anew' : 'Ask the list now'} <VisuallyHidden>: {blacklistName}</VisuallyHidden>
          </Button>
        )}
        {!isFinal(step) && (
          <ConfirmButton
            label="Give up"
            about={blacklistName}
            title={`Give up on ${blacklistName}?`}
            keep="Go on"
            onConfirm={() => run('cancel', id)}
          >
            The step counts as failed. It can be begun anew.
          </ConfirmButton>
        )}
      </Row>
    </>
  )
}

type Action = 'submitted' | 'retry' | 'cancel'

/** Does something to a step, and shows what became of the case. */
function useActions(caseId: string) {
  const queries = useQueryClient()
  const [state, setState] = useState<{ busy: Action | null; problem: string }>({ busy: null, problem: '' })

  async function run(action: Action, stepId: string): Promise<void> {
    setState({ busy: action, problem: '' })
    try {
      const changed: DelistingWithHistory = await delisting[action](caseId, stepId)
      queries.setQueryData(delistingQuery(caseId).queryKey, changed)
      setState({ busy: null, problem: '' })
    } catch (error) {
      setState({ busy: null, problem: (error as Error).message })
    }
  }
  return { run, ...state }
}
