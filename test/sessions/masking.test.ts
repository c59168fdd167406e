// What counts as a clock or a calendar, and what must not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maskDates, maskTimes } from '../../src/sessions/masking.ts';

const equalTimes: readonly [string, string][] = [
  ['Current time is 10:00:01.', 'Current time is 9:59:59.'],
  ['It is 10:00', 'It is 23:59'],
  ['It is 9:05 PM', 'It is 11:15 a.m.'],
  ['now: 2026-09-01T10:00:01.123456Z', 'now: 2026-09-01T10:00:19Z'],
  ['now: 2026-09-01T10:00:01+02:00', 'now: 2026-09-01T22:10:00+02:00'],
  ['Il est 10h05.', 'Il est 23 h 07.'],
  ['当前时间：10时05分01秒', '当前时间：9时5分59秒'],
  ['いま10時05分です', 'いま9時5分です'],
  ['지금은 10시 5분입니다', '지금은 9시 59분입니다'],
  ['timestamp 1788220801', 'timestamp 1788220819'],
  ['epoch_ms=1788220801123', 'epoch_ms=1788220819456'],
];
const equalDates: readonly [string, string][] = [
  ["Today's date is 2026-09-01.", "Today's date is 2026-10-12."],
  ['Today: 01.09.2026', 'Today: 2.9.2026'],
  ['Today: 9/1/26', 'Today: 9/12/26'],
  ['Today is 1 Sep 2026', 'Today is 30 September 2026'],
  ['Today is Monday, September 1', 'Today is Tuesday, September 2'],
  ['Today is the 1st of May', 'Today is the 22nd of June'],
  ['It is September 2026', 'It is October 2026'],
  ['Heute ist Dienstag, der 1. September 2026.', 'Heute ist Freitag, der 12. März 2027.'],
  ['Nous sommes le mardi 1er septembre 2026.', 'Nous sommes le jeudi 12 août 2026.'],
  ['Hoy es martes, 1 de septiembre de 2026.', 'Hoy es jueves, 12 de marzo de 2027.'],
  ['Сегодня вторник, 1 сентября 2026 г.', 'Сегодня среда, 12 марта 2027 г.'],
  ['今天是2026年9月1日，星期二。', '今天是2027年10月12日，星期三。'],
  ['今日は2026年9月1日火曜日です。', '今日は2026年9月2日水曜日です。'],
  ['오늘은 2026년 9월 1일 화요일입니다.', '오늘은 2026년 9월 2일 수요일입니다.'],
  ['Mon Sep 1', 'Tue Sep 2'],
];
const untouched = [
  'You may answer in 3 words.',
  'Order 1788220801 was shipped.',
  'Version 2.1.36 of the tool, ratio 4:3',
  'A march of 20 miles; the sun is up.',
  'Am See steht 1 Maibaum, und 3 h lang regnet es.',
  '回答は3つまで。第2章を読む。',
  '',
];

describe('maskTimes and maskDates', () => {
  for (const [one, other] of equalTimes) {
    it(`sees only a clock between "${one}" and "${other}"`, () => {
      assert.equal(maskTimes(one), maskTimes(other));
      assert.notEqual(maskTimes(one), one);
    });
  }
  for (const [one, other] of equalDates) {
    it(`sees only a date between "${one}" and "${other}"`, () => {
      assert.equal(maskTimes(one), one);
      assert.equal(maskDates(one), maskDates(other));
      assert.notEqual(maskDates(one), one);
    });
  }
  for (const line of untouched) {
    it(`leaves "${line}" alone`, () => {
      assert.equal(maskDates(maskTimes(line)), line);
    });
  }

  it('takes linear time on long lines', () => {
    const line = '1 of '.repeat(50_000) + '12:'.repeat(50_000) + '\t'.repeat(50_000);
    const started = performance.now();
    maskDates(maskTimes(line));
    assert.ok(performance.now() - started < 2000);
  });
});
