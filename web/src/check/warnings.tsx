import type { MailAuthResult } from '../../../src/diagnostics/shapes.ts'
import { Snippet } from '../ui/actions/copy.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Icon, type IconName } from '../ui/brand/icons.tsx'
import { TextWithCode } from '../ui/text/text-with-code.tsx'
import { warnings as messages } from './messages.ts'
import classes from './warnings.module.css'

export type WarningItem = Pick<
  MailAuthResult['warnings'][number],
  'severity' | 'message' | 'publish'
>

const ICONS: Record<WarningItem['severity'], IconName> = {
  error: 'bad',
  warning: 'warn',
  info: 'info',
}

/**
 * Problems, each with the record to publish if there is one. Suggestions are collapsed below them.
 */
export function Warnings({ warnings }: { warnings: (string | WarningItem)[] }) {
  const all = warnings.map((each) =>
    typeof each === 'string' ? { severity: 'warning' as const, message: each } : each,
  )
  const suggestions = all.filter(({ severity }) => severity === 'info')
  return (
    <>
      <AdviceList
        label={messages.problems}
        advice={all.filter(({ severity }) => severity !== 'info')}
      />
      {suggestions.length > 0 && (
        <Disclosure summary={messages.suggestionCount(suggestions.length)}>
          <AdviceList label={messages.suggestions} advice={suggestions} />
        </Disclosure>
      )}
    </>
  )
}

function AdviceList({ label, advice }: { label: string; advice: WarningItem[] }) {
  if (advice.length === 0) return null
  return (
    <ul className={classes.advice} aria-label={label}>
      {advice.map(({ severity, message, publish }) => (
        <li key={message} data-severity={severity}>
          <span className={classes.icon}>
            <Icon name={ICONS[severity]} />
          </span>
          <div className={classes.words}>
            <p>
              <TextWithCode text={message} />
            </p>
            {publish && <Publish {...publish} />}
          </div>
        </li>
      ))}
    </ul>
  )
}

function Publish({ name, type, value }: NonNullable<WarningItem['publish']>) {
  return (
    <>
      <p className={classes.publish}>
        {messages.publish(type)} <code>{name}</code>:
      </p>
      <Snippet what={messages.record(name)} text={value} />
    </>
  )
}
