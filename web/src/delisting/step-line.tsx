import { useId } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { CopyButton } from '../ui/actions/copy.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { describeStepStatus, isExplained, isFinal, isNotRequested } from './delisting-status.ts'
import { step as messages } from './messages.ts'
import { StepDetails, type StepProps } from './step-details.tsx'
import classes from './step-line.module.css'
import { useStepActions, type StepActions } from './use-step-actions.ts'

/** One list in a line: its status and the next action. The rest is folded. */
export function StepLine({ of, step }: StepProps) {
  const heading = useId()
  const actions = useStepActions(of.id, step.id)
  const { blacklistName, method, needs, nextStep } = step
  const { tone, word } = describeStepStatus(step)
  return (
    <section className={classes.step} aria-labelledby={heading}>
      <div className={classes.line}>
        <div className={classes.name}>
          <h3 id={heading}>{blacklistName}</h3>
          <small>{messages.methods[method]}</small>
        </div>
        <div className={classes.actions}>
          <NextAction {...{ of, step, actions }} />
        </div>
        <Status tone={tone}>{word}</Status>
      </div>
      {(needs === 'mend' || needs === 'send' || step.status === 'failed') && <p>{nextStep}</p>}
      <div role="alert">{actions.problem && <Notice tone="bad">{actions.problem}</Notice>}</div>
      <Disclosure summary={messages.details}>
        {() => <StepDetails {...{ of, step, actions }} />}
      </Disclosure>
    </section>
  )
}

/** What brings the step forward: the text, the page of the list, and what was done there. */
function NextAction({ of, step, actions: { run, busy } }: StepProps & { actions: StepActions }) {
  const access = useAccess()
  const { needs, method, url, blacklistName, request } = step
  const isOpen = !isFinal(step) && (method === 'provider' || isNotRequested(step))
  if (!isOpen) return null
  const missing = isExplained(of) ? {} : { disabledReason: messages.explainFirst }
  const about = <VisuallyHidden>{messages.to(blacklistName)}</VisuallyHidden>
  if (needs === 'confirm')
    return (
      <Button
        {...missing}
        {...access}
        size="small"
        kind="primary"
        busy={busy === 'confirm'}
        onClick={() => void run('confirm')}
      >
        {messages.sendEmail} {about}
      </Button>
    )
  return (
    <>
      {request && <CopyText text={request.text} {...missing} />}
      {url && (needs === 'submit' || needs === 'send') && (
        <a href={url} target="_blank" rel="noreferrer">
          {messages.openPage} <VisuallyHidden>{messages.of(blacklistName)}</VisuallyHidden>
        </a>
      )}
      {(needs === 'submit' || needs === 'send') && (
        <Button
          {...access}
          size="small"
          busy={busy === 'submitted'}
          onClick={() => void run('submitted')}
        >
          {needs === 'submit' ? messages.formSubmitted : messages.emailSent} {about}
        </Button>
      )}
    </>
  )
}

/** Copies the text for the list, once cause and fix are in it. */
function CopyText({ text, disabledReason }: { text: string; disabledReason?: string }) {
  if (disabledReason === undefined)
    return <CopyButton text={text} what={messages.text} label={messages.copyText} />
  return (
    <Button size="small" icon="copy" disabledReason={disabledReason}>
      {messages.copyText}
    </Button>
  )
}
