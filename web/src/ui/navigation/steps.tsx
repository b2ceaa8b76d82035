import classes from './steps.module.css'
import { Icon } from '../brand/icons.tsx'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import { messages } from '../messages.ts'

type StepItem<T extends string> = {
  value: T
  name: string
  /** The choice made in the step, once made. */
  summary?: string | undefined
}

type StepsProps<T extends string> = {
  label: string
  steps: StepItem<T>[]
  now: T
  onGo: (step: T) => void
}

/** The steps of a wizard. Completed steps can be opened again. */
export function Steps<T extends string>({ label, steps, now, onGo }: StepsProps<T>) {
  const at = steps.findIndex(({ value }) => value === now)
  return (
    <ol className={classes.steps} aria-label={label}>
      {steps.map(({ value, name, summary }, index) => (
        <li
          key={value}
          data-state={stateOf(index, at, summary)}
          aria-current={index === at ? 'step' : undefined}
        >
          <span className={classes.sign}>
            {index !== at && summary ? <Icon name="done" size={14} /> : index + 1}
          </span>
          {index !== at && summary !== undefined ? (
            <button type="button" className={classes.name} onClick={() => onGo(value)}>
              {name} <VisuallyHidden>{messages.steps.change}</VisuallyHidden>
            </button>
          ) : (
            <span className={classes.name}>{name}</span>
          )}
          {summary && <span className={classes.summary}>{summary}</span>}
        </li>
      ))}
    </ol>
  )
}

function stateOf(index: number, at: number, summary: string | undefined): 'now' | 'done' | 'later' {
  if (index === at) return 'now'
  return summary === undefined ? 'later' : 'done'
}
