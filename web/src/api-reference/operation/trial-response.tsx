import { CodeBlock } from '../code/code-block.tsx'
import { sizeText } from '../../ui/text/format.ts'
import { trial as messages } from '../messages.ts'
import classes from './trial-form.module.css'
import { MAX_SHOWN_CHARACTERS, type Trial, type TrialResult } from './use-trial.ts'

/** The response so far, or why there is none. */
export function TrialResponse({ trial }: { trial: Trial }) {
  if (trial.state === 'idle') return null
  if (trial.state !== 'answered') {
    return (
      <p className={classes.note} role={trial.state === 'failed' ? 'alert' : 'status'}>
        {trial.state === 'failed' ? messages.failed : messages.sending}
      </p>
    )
  }
  const { result } = trial
  const { status, milliseconds, bytes, type } = result
  return (
    <div className={classes.response}>
      <p role="status" className={classes.status} data-failed={status >= 400}>
        {messages.status(status, milliseconds, sizeText(bytes))}
      </p>
      {result.text ? (
        <CodeBlock
          code={shownText(result)}
          language={type.includes('json') ? 'json' : 'text'}
          what={messages.result}
          head={type.split(';')[0] ?? ''}
        />
      ) : (
        result.isComplete && (
          <p className={classes.note}>
            {bytes === 0 ? messages.empty : messages.binary(sizeText(bytes))}
          </p>
        )
      )}
      {result.isTruncated && (
        <p className={classes.note}>{messages.truncated(sizeText(MAX_SHOWN_CHARACTERS))}</p>
      )}
    </div>
  )
}

/** JSON with line breaks, once it is complete; any other text as it is. */
function shownText({ text, type, isComplete }: TrialResult): string {
  if (text === null || !isComplete || !type.startsWith('application/json')) return text ?? ''
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
