import { useQueryClient } from '@tanstack/react-query'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { AreaField, Form } from '../ui/forms/form.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted, Row } from '../ui/layout/page.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { delisting, delistingQuery, type Delisting, type Step } from './api.ts'
import { canRetry, isExplained, isFinal, isNotRequested } from './delisting-status.ts'
import { step as messages } from './messages.ts'
import { RequestText } from './request-text.tsx'
import { LastChecked, SentRequest, StepAnswers } from './step-answers.tsx'
import type { StepActions } from './use-step-actions.ts'

export type StepProps = { of: Delisting; step: Step }

/** Everything about a step that its line leaves out: the text, the answers and rarer actions. */
export function StepDetails({ of, step, actions }: StepProps & { actions: StepActions }) {
  const { category, method, needs, nextStep, status } = step
  const hasText = !isFinal(step) && (method === 'provider' || isNotRequested(step))
  return (
    <>
      <p>
        <Muted>{messages.categories[category]}</Muted>
      </p>
      {needs !== 'confirm' && needs !== 'mend' && status !== 'failed' && <p>{nextStep}</p>}
      {!isFinal(step) && <LastChecked answer={step.lastAnswer} />}
      {hasText && <RequestText step={step} />}
      {needs === 'confirm' && isExplained(of) && <OwnTextForm of={of} step={step} />}
      <SentRequest step={step} />
      <StepAnswers step={step} />
      <RareActions step={step} actions={actions} />
    </>
  )
}

/** Sends the user’s own text in place of the prepared one. */
function OwnTextForm({ of, step }: StepProps) {
  const access = useAccess()
  const queries = useQueryClient()

  async function send({ text = '' }: Record<string, string>): Promise<void> {
    const changed = await delisting.confirm(of.id, step.id, { text: text.trim() })
    queries.setQueryData(delistingQuery(of.id).queryKey, changed)
  }
  const findMissing = ({ text = '' }: Record<string, string>): Record<string, string> =>
    text.trim() === '' ? { text: messages.enterText } : {}

  return (
    <Disclosure summary={messages.ownText}>
      <Form {...access} kind="plain" onSubmit={send} check={findMissing} submit={messages.sendOwn}>
        <AreaField prose name="text" label={messages.ownText} rows={6} />
      </Form>
    </Disclosure>
  )
}

/** A check at once, a new attempt, and the end of the step. */
function RareActions({
  step,
  actions: { run, busy },
}: {
  step: StepProps['step']
  actions: StepActions
}) {
  const access = useAccess()
  const { blacklistName, status } = step
  if (isFinal(step) && !canRetry(step)) return null
  return (
    <Row>
      {canRetry(step) && (
        <Button {...access} size="small" busy={busy === 'retry'} onClick={() => void run('retry')}>
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
          onConfirm={() => run('cancel')}
        >
          {messages.cancelText}
        </ConfirmButton>
      )}
    </Row>
  )
}
