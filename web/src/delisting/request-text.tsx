import { LetterText } from '../ui/text/letter.tsx'
import type { Step } from './api.ts'
import { request as messages } from './messages.ts'

/** The request to the list or to the owner of the network, for the user to read, copy and send. */
export function RequestText({ step: { request, method, blacklistName } }: { step: Step }) {
  if (!request) return null
  const { to, subject, text } = request
  const head: [string, string | null][] = [
    [messages.to, to],
    [messages.subject, subject],
  ]
  return (
    <LetterText
      what={messages.text}
      head={method === 'form' ? [[messages.form, blacklistName]] : head}
      text={text}
    />
  )
}
