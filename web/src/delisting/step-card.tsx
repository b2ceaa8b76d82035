import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Row, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { TitledCard } from '../ui/layout/titled-card.tsx'
import {
  delistingQuery,
  delisting,
  type Delisting,
  type DelistingWithHistory,
  type Step,
} from './api.ts'
import { SentRequest, StepAnswers, LastChecked } from './step-answers.tsx'
import { step as messages } from './messages.ts'
import { RequestText } from './request-text.tsx'
import { canRetry, describeStepStatus, isFinal, isNotRequested } from './delisting-status.ts'
import { CauseAndFixForm } from './cause-and-fix-form.tsx'
import { useAccess } from '../workspaces/roles.ts'

type StepProps = { of: Delisting; step: Step }

/** One list: its status, the next action, and the answers of the list. */
export function StepCard({ of, step }: StepProps) {
  const { blacklistName, category, method, nextStep } = step
  const { tone, word } = describeStepStatus(step)
  return (
    <TitledCard title={blacklistName} aside={<Status tone={tone}>{word}</Status>}>
      <p>
        <Muted>
          {messages.categories[category]} {messages.methods[method]}
        </Muted>
      </p>
      <p>{nextStep}</p>
      {!isFinal(step) && <LastChecked answer={step.lastAnswer} />}
      <RequiredAction of={of} step={step} />
      <SentRequest step={step} />
      <StepAnswers step={step} />
      <Actions of={of} step={step} />
    </TitledCard>
  )
}

/** The form for cause and fix, then the text that contains both, and a link to the list’s page. */
function RequiredAction({ of, step }: StepProps) {
  const { needs, method, url, blacklistName } = step
  if (isFinal(step)) return null
  if (method === 'provider') return <RequestText step={step} />
  if (!isNotRequested(step)) return null
  const isMissingCause = needs === 'confirm' || of.cause === null
  return (
    <>
      {/* Cause and fix of another list are filled in, to be confirmed for this one. */}
      {isMissingCause ? (
        <CauseAndFixForm key={`${of.cause} ${of.fix}`} of={of} step={step} />
      ) : (
        <RequestText step={step} />
      )}
      {url && (needs === 'submit' || needs === 'send') && (
        <a href={url} target="_blank" rel="noreferrer">
          {messages.openPage(blacklistName)}
        </a>
      )}
    </>
  )
}

/** The buttons that the status of the step allows. */
function Actions({ of, step }: StepProps) {
  const access = useAccess()
  const { id, blacklistName, status, needs } = step
  const { run, busy, problem } = useActions(of.id)
  if (isFinal(step) && !canRetry(step)) return null
  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <Row>
        {(needs === 'submit' || needs === 'send') && (
          <Button
            {...access}
            kind={of.cause === null ? 'plain' : 'primary'}
            busy={busy === 'submitted'}
            onClick={() => void run('submitted', id)}
          >
            {needs === 'submit' ? messages.formSubmitted : messages.emailSent}{' '}
            <VisuallyHidden>{messages.to(blacklistName)}</VisuallyHidden>
          </Button>
        )}
        {canRetry(step) && (
          <Button
            {...access}
            size="small"
            busy={busy === 'retry'}
            onClick={() => void run('retry', id)}
          >
            {status === 'failed' ? messages.restart : messages.checkAgain}{' '}
            <VisuallyHidden>{messages.about(blacklistName)}</VisuallyHidden>
          </Button>
        )}
        {!isFinal(step) && (
          <ConfirmButton
            {...access}
            label={messages.cancel}
            about={blacklistName}
            title={messages.cancelTitle(blacklistName)}
            keep={messages.keep}
            onConfirm={() => run('cancel', id)}
          >
            {messages.cancelText}
          </ConfirmButton>
        )}
      </Row>
    </>
  )
}

type Action = 'submitted' | 'retry' | 'cancel'

/** Runs an action on a step and shows the changed delisting. */
function useActions(delistingId: string) {
  const queries = useQueryClient()
  const [state, setState] = useState<{ busy: Action | null; problem: string }>({
    busy: null,
    problem: '',
  })

  async function run(action: Action, stepId: string): Promise<void> {
    setState({ busy: action, problem: '' })
    try {
      const changed: DelistingWithHistory = await delisting[action](delistingId, stepId)
      queries.setQueryData(delistingQuery(delistingId).queryKey, changed)
      setState({ busy: null, problem: '' })
    } catch (error) {
      setState({ busy: null, problem: (error as Error).message })
    }
  }
  return { run, ...state }
}
