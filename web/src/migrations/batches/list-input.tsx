import { useState } from 'react'
import { FileDrop } from '../../ui/forms/file-drop.tsx'
import { Button } from '../../ui/actions/button.tsx'
import { Labelled } from '../../ui/forms/labelled.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Row } from '../../ui/layout/page.tsx'
import { form as messages } from './messages.ts'
import classes from './batches.module.css'

/** A list of mailboxes: pasted, or the bytes of a file in base64. */
export type ListSource = { text: string; file: { name: string; base64: string } | null }

export const EMPTY_LIST: ListSource = { text: '', file: null }

/** The part of a request that carries a list; null while there is none. */
export function listFields({ text, file }: ListSource): { text: string } | { file: string } | null {
  if (file) return { file: file.base64 }
  return text.trim() === '' ? null : { text }
}

const MAX_FILE_BYTES = 2 * 1024 * 1024

type ListInputProps = { list: ListSource; onChange: (list: ListSource) => void }

/** Takes a list of mailboxes as text or as a file. */
export function ListInput({ list, onChange }: ListInputProps) {
  const [problem, setProblem] = useState('')

  async function take([file]: File[]): Promise<void> {
    if (!file) return
    if (file.size > MAX_FILE_BYTES) return setProblem(messages.tooLarge)
    setProblem('')
    onChange({ text: '', file: { name: file.name, base64: await base64Of(file) } })
  }

  if (list.file)
    return (
      <Row>
        <span>{messages.file(list.file.name)}</span>
        <Button size="small" onClick={() => onChange(EMPTY_LIST)}>
          {messages.removeFile}
        </Button>
      </Row>
    )
  return (
    <div className={classes.input}>
      <Labelled label={messages.paste}>
        {({ className, ...control }) => (
          <textarea
            {...control}
            className={`${className} ${classes.text}`}
            rows={6}
            value={list.text}
            maxLength={MAX_FILE_BYTES}
            spellCheck={false}
            autoComplete="off"
            placeholder={messages.placeholder}
            onChange={(event) => onChange({ text: event.currentTarget.value, file: null })}
          />
        )}
      </Labelled>
      {list.text === '' && (
        <FileDrop
          label={messages.choose}
          hint={messages.drop}
          busy={false}
          onFiles={(files) => void take(files)}
        />
      )}
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </div>
  )
}

/** The bytes as they are: the service detects their encoding. */
async function base64Of(file: File): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(reader.result as string))
    reader.addEventListener('error', () => reject(reader.error as DOMException))
    reader.readAsDataURL(file)
  })
  return url.slice(url.indexOf(',') + 1)
}
