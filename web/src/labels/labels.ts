import { labels as messages } from './messages.ts'

const MAX_LABELS = 10
const LABEL = /^[a-z0-9][a-z0-9._-]{0,29}$/

/** The labels of a text, separated by commas or spaces, in lower case and each once. */
export function labelsOf(text = ''): string[] {
  return [
    ...new Set(
      text
        .toLowerCase()
        .split(/[\s,]+/)
        .filter(Boolean),
    ),
  ]
}

/** Error message of the field `labels`; empty when it is valid. */
export function wrongLabels({ labels: text }: Record<string, string>): Record<string, string> {
  const labels = labelsOf(text)
  const isValid = labels.length <= MAX_LABELS && labels.every((label) => LABEL.test(label))
  return isValid ? {} : { labels: messages.wrong }
}
