import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import { decodeBody, formatHexLine } from './decode-body.ts'
import type { RequestDetails } from '../api.ts'
import classes from './hex-view.module.css'
import { body } from '../messages.ts'

const LINE = 22

/** The body byte for byte. */
export function HexView({ request }: { request: RequestDetails['request'] }) {
  const scroller = useRef<HTMLDivElement>(null)
  const bytes = useMemo(() => decodeBody(request), [request])
  const width = window.innerWidth < 600 ? 8 : 16
  const virtual = useVirtualizer({
    count: Math.ceil(bytes.length / width),
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE,
    overscan: 12,
  })
  return (
    <div
      ref={scroller}
      className={classes.scroller}
      tabIndex={0}
      role="group"
      aria-label={body.hexadecimal}
    >
      <div className={classes.whole} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const { offset, bytes: hex, letters } = formatHexLine(bytes, index * width, width)
          return (
            <div
              key={index}
              className={classes.line}
              style={{ height: LINE, transform: `translateY(${start}px)` }}
            >
              <span className={classes.offset}>{offset}</span>
              <span className={classes.bytes} data-width={width}>
                {hex}
              </span>
              <span className={classes.letters}>{letters}</span>
            </div>
          )
        })}
      </div>
    </div>
  )
}
