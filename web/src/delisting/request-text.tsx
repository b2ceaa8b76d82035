import { Letter } from '../ui/text/letter.tsx'
import type { Step } from './api.ts'

/** What the list, or the owner of the network, is asked: to read, copy and send. */
export function RequestText({ step: { request, method, blacklistName } }: { step: Step }) {
  if (!request) return null
  const { to, subject, text } = request
  const head: [string, string | null][] = [
    ['To', to],
    ['Subject', subject],
  ]
  return (
    <Letter what="the text" head={method === 'form' ? [['For', `the form of ${blacklistName}`]] : head} text={text} />
  )
}
