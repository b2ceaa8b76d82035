import type { ReactNode } from 'react'
import { Button } from '../../ui/actions/button.tsx'
import { VisuallyHidden } from '../../ui/text/visually-hidden.tsx'
import classes from './inspector.module.css'
import { list as messages, request } from '../messages.ts'

type InspectorProps = {
  /** A request was chosen: a phone shows it in place of the list. */
  isOpen: boolean
  head: ReactNode
  filter: ReactNode
  list: ReactNode
  detail: ReactNode
  onBack: () => void
  onOlder: (() => void) | undefined
  onNewer: (() => void) | undefined
}

/** The list and the selected request side by side; on a phone one at a time. */
export function Inspector({
  isOpen,
  head,
  filter,
  list,
  detail,
  onBack,
  onOlder,
  onNewer,
}: InspectorProps) {
  return (
    <div className={classes.inspector} data-open={isOpen}>
      <div className={classes.head}>{head}</div>
      <section className={classes.list} aria-label={messages.requests}>
        {filter}
        {list}
      </section>
      <section className={classes.detail} aria-label={request.label}>
        <div className={classes.ways}>
          <span className={classes.back}>
            <Button size="small" kind="quiet" icon="back" onClick={onBack}>
              {messages.back}
            </Button>
          </span>
          <Step icon="up" name={messages.newer} stroke="k" onStep={onNewer} />
          <Step icon="down" name={messages.older} stroke="j" onStep={onOlder} />
        </div>
        {detail}
      </section>
    </div>
  )
}

type StepProps = {
  icon: 'up' | 'down'
  name: string
  stroke: string
  onStep: (() => void) | undefined
}

function Step({ icon, name, stroke, onStep }: StepProps) {
  return (
    <Button size="small" kind="quiet" icon={icon} disabled={!onStep} onClick={onStep}>
      {name} <VisuallyHidden>{messages.request}</VisuallyHidden>{' '}
      <kbd className={classes.stroke}>{stroke}</kbd>
    </Button>
  )
}
