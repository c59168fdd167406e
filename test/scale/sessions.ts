// How conversations follow each other without anything being wrong: asked again, side by side, with others in between.
import { chatOf, messagesOf, rawOf, type Message, type Shape } from './requests.ts';
import { oddText, sentence, text } from './texts.ts';

const short = ['ok', 'yes', 'no', 'hi', '?', '1', 'more', 'go on', 'thanks', '👍'];

export const sessionShapes: Readonly<Record<string, Shape>> = {
  'one odd text': (dice) => [chatOf([{ role: 'user', content: oddText(dice) }])],
  'nothing but white space': (dice) => [
    chatOf([{ role: 'user', content: dice.pick(['', ' ', '\n', '\t \n']) }]),
  ],
  'short words': (dice) => {
    const messages = dice.times(9, (index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: dice.pick(short),
    }));
    return [1, 3, 5, 7, 9].map((length) => chatOf(messages.slice(0, length)));
  },
  'long chat': (dice) => {
    const messages = messagesOf(dice, 8);
    return [12, 8, 4, 0].map((less) => chatOf(messages.slice(0, messages.length - less)));
  },
  'asked again': (dice) => {
    const messages = messagesOf(dice, 1);
    return [chatOf(messages), chatOf(messages), chatOf(messages, { seed: 7, temperature: 1 })];
  },
  'last question edited': (dice) => {
    const messages = messagesOf(dice, 2);
    return [chatOf(messages), chatOf([...messages.slice(0, -1), { role: 'user', content: sentence(dice) }])];
  },
  'title in between': (dice) => {
    const [question, reply] = [`How does a heat pump work? ${text(dice)}`, 'It moves heat.'];
    const chat: Message[] = [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: question },
    ];
    return [
      chatOf(chat),
      chatOf([
        { role: 'user', content: `Give this chat a title:\n\nuser: ${question}\nassistant: ${reply}` },
      ]),
      chatOf([...chat, { role: 'assistant', content: reply }, { role: 'user', content: sentence(dice) }]),
    ];
  },
  'two agents by turns': (dice) => {
    const [one, other] = ['alpha', 'beta'].map((task): Message[] => [
      { role: 'system', content: 'You are one of the agents of a team.' },
      { role: 'user', content: `Task ${task}: ${text(dice)}` },
      { role: 'assistant', content: `Done with ${task}.` },
      { role: 'user', content: `What is left of ${task}?` },
    ]) as [Message[], Message[]];
    return [one.slice(0, 2), other.slice(0, 2), one, other].map((messages) => chatOf(messages));
  },
  'other sampling': (dice) => {
    const messages = messagesOf(dice, 1);
    return [
      chatOf(messages.slice(0, -2), { temperature: 0.2 }),
      chatOf(messages, { temperature: 0.9, top_p: 0.5, presence_penalty: 0.1 }),
    ];
  },
  'under one salt': (dice) => {
    const messages = messagesOf(dice, 2);
    return [4, 2, 0].map((less) =>
      chatOf(messages.slice(0, messages.length - less), { cache_salt: 'tenant one' }),
    );
  },
  'handed on to another salt': (dice) => {
    const messages = messagesOf(dice, 1);
    return [2, 0].map((less) =>
      chatOf(messages.slice(0, messages.length - less), { cache_salt: `salt ${less}` }),
    );
  },
  'long but fitting': (dice) => [chatOf([{ role: 'user', content: `${sentence(dice)} `.repeat(200) }])],
  'several rendered at once': async (dice, { render }) => {
    const prompts = await Promise.all(dice.times(3, () => render({ messages: messagesOf(dice, 0) })));
    return [rawOf(prompts)];
  },
  'rendered and growing': async (dice, { render }) => {
    const messages = messagesOf(dice, 2);
    const prompts = [4, 2, 0].map((less) => render({ messages: messages.slice(0, messages.length - less) }));
    return (await Promise.all(prompts)).map((prompt) => rawOf(prompt));
  },
  'rendered with a begun answer': async (dice, { render }) => [
    rawOf(`${await render({ messages: messagesOf(dice, 0) })}Sure, the`),
  ],
};
