import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { FileDrop } from '../ui/forms/file-drop.tsx'
import { Row } from '../ui/layout/page.tsx'
import { keyFiles as messages } from './messages.ts'

const MAX_BYTES = 20_000

type KeyFilesProps = {
  /** The field in which the form sends the text of the files. */
  name: string
  label: string
  hint: string
}

/** Files with a key, whose joined text the form sends. */
export function KeyFiles({ name, label, hint }: KeyFilesProps) {
  const [chosen, setChosen] = useState<{ names: string; text: string } | null>(null)
  const [problem, setProblem] = useState('')

  async function take(files: File[]): Promise<void> {
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    if (bytes > MAX_BYTES) return setProblem(messages.tooLarge)
    setProblem('')
    const texts = await Promise.all(files.map((file) => file.text()))
    setChosen({ names: files.map((file) => file.name).join(', '), text: texts.join('\n') })
  }

  if (chosen)
    return (
      <Row>
        <span>{messages.chosen(chosen.names)}</span>
        <Button size="small" kind="quiet" onClick={() => setChosen(null)}>
          {messages.other}
        </Button>
        <input type="hidden" name={name} value={chosen.text} />
      </Row>
    )
  return (
    <>
      <FileDrop label={label} hint={hint} busy={false} onFiles={(files) => void take(files)} />
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </>
  )
}
