import { useState } from 'react'
import { inService } from '../../base-path.ts'
import { api } from '../../api.ts'
import { Button } from '../../ui/actions/button.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Stack } from '../../ui/layout/page.tsx'
import { demoEntry as messages } from '../messages.ts'

/** Signs in to a demo with one click. */
export function DemoEntry({ next = '/home' }: { next?: string }) {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')

  async function enter(): Promise<void> {
    setBusy(true)
    setProblem('')
    try {
      await api.enterDemo()
      // Another day’s demo may be in the caches of this page.
      window.location.assign(inService(next))
    } catch (error) {
      setProblem((error as Error).message)
      setBusy(false)
    }
  }

  return (
    <Stack>
      <p>{messages.lead}</p>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <div>
        <Button kind="primary" size="large" busy={isBusy} onClick={() => void enter()}>
          {messages.enter}
        </Button>
      </div>
    </Stack>
  )
}
